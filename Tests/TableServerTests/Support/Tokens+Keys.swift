// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The keys of the tests' issuer. They protect nothing.
extension Tokens {
    static let keySet = Data(
        """
        {"keys":[
          {"kty":"RSA","kid":"rsa","e":"AQAB","n":"\
        24u4P_pPo5MhDXQm4MXibzl3LS4Sea60AsLFKGnlrlGUL3QtboQmk-8AjXkrzwHZ_-x1LKbVSU4fI6l_\
        CFy-q3MNUQvFQ0NfbJq8zDmPvl100OQUkUDddqqscIThaxX1NKLK_PyNX8MK2LOz2VTvR1difwgK1RGd\
        XxnukIiv8xsS994EdQxtW6swD3yBddEj3JCgXloirwG60T4k4AN-woxZtIj0eDn1KgumTjQhLAbm4G5z\
        VMqa3Ss0c1CZ74gwMPJl9sg9BzLBiPuVIIx6X-QohxaPxZfVgYp-Nmb4hHHgz6tGJUELFuJMdkx3l7Fx\
        vXerLl-cn4hpnAMJlcjh9w\
        "},
          {"kty":"EC","kid":"ec","crv":"P-256","x":"HyueaCbNre8IHh_y3pX_Qq8HVGlwIVvCMqNwc5FGLFw",
           "y":"Aq4TjyIyQgwp4F1qCOCnEfW7kbDQvGLC6V6MnFnzGQY"}
        ]}
        """.utf8)

    static let rsaPrivateKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDbi7g/+k+jkyEN
        dCbgxeJvOXctLhJ5rrQCwsUoaeWuUZQvdC1uhCaT7wCNeSvPAdn/7HUsptVJTh8j
        qX8IXL6rcw1RC8VDQ19smrzMOY++XXTQ5BSRQN12qqxwhOFrFfU0osr8/I1fwwrY
        s7PZVO9HV2J/CArVEZ1fGe6QiK/zGxL33gR1DG1bqzAPfIF10SPckKBeWiKvAbrR
        PiTgA37CjFm0iPR4OfUqC6ZONCEsBubgbnNUyprdKzRzUJnviDAw8mX2yD0HMsGI
        +5UgjHpf5CiHFo/Fl9WBin42ZviEceDPq0YlQQsW4kx2THeXsXG9d6suX5yfiGmc
        AwmVyOH3AgMBAAECggEAFUZlYkxwkj025esHEh9q/B9D+sICXVNTiLRKJHVFTM6v
        /vyRoyo1jilffYDWq3aWTbQi02MOu837u4TN1XLIsVbyspNi7XaRFTZWLFjkTUIY
        3gie1kfvDh788IxtRxIiKGnMJOxDtkTG1M1ulMAjzd8xzCCXOCLprqZrKrYW4tu4
        nyttREvA8NFBoP6eMEXhUY92yeGU1kc1bcCaRRfPFhcG03nf5kc59XeiYC5dvxce
        5+XRMey3wqnQWyr8LvL7wrJyY3LvMizTvkfedUY3MIXu0JzfR+frG4YPtj1NT3EN
        fRGWtwDCB0zXVWjkf4IdDHG7LTS6D9ueBJni+Wlw6QKBgQD5UBh01lTEUYes1NDI
        /sGf4qAJNwxkt46LoAgDL1qEeSuMsOlT9zGM4yoBMtns+pNNt3qMICI2KDOxPqYs
        Wc3WE7FxZ33vu6f8006UMkMdY092vlITeJfot2IYqBb+383dNVjm7MirklCdYSDw
        o7y5yYARnqXtr5+e8cmA0a3ifwKBgQDhbzqOQQDaZxQCTVFHR6kO31ZkUpMbMDlp
        iQuCi9xirC+epP0Obdch9KAzqafpEH2FdhOJKQMFsDiC1kKaYo+/6nEWnLa6ppt+
        VNPJDJKBr4mTVc2zWkKhVRJRUl8RsrwDu3d1d8OjACg1UTV5U1giI8iIj1wWQQ8V
        ib7nCBdUiQKBgCFjmbLkFXwpUxtRcRjKDZJlHnu9dJp0ftGyQAB1MhE1zSBNfSIy
        o98zeSep8MetE1dAMFhd4VcRcULWmhisekWmY4hFjPczUZ8piYeNZ7Gi4DyN5p4W
        83lGPgwBTvsZbA+pGlvq8EESGlvJa0jvFNJo6w7xCVXYxG7cANmQu1HvAoGBALco
        xvuTRt0sCK7CIPp395x0yt1h1dGuQcdEKIzdk6a73UjZJh2WEses2IiBHEKZOlK4
        F7FGGAWEIrXy3VRQJhk4or9Lfo9yFD31L8lWpKYnd/C0Mxe4ixBHbUWTVlirzmR9
        6NYRA2upEgIXxAmaNK4wQprpV1lhbJ8ENo3BHit5AoGBANA5kc8zc36eurIw1sh1
        LaP386Jl8tNm2QvbFYOEGquA4JAhqXPvlkrD4zMYl3htLCP50u9ipwGeVKzxvBC/
        p1DOZYItEFD0BhSK6yPmjL/tY9MRTAg3zmuYiUFqcOaBhnE3OmxB9qMazhwsWbdB
        BTyOANT7juKENBPJDdQIgYNx
        -----END PRIVATE KEY-----

        """

    static let rsaPublicKey = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA24u4P/pPo5MhDXQm4MXi
        bzl3LS4Sea60AsLFKGnlrlGUL3QtboQmk+8AjXkrzwHZ/+x1LKbVSU4fI6l/CFy+
        q3MNUQvFQ0NfbJq8zDmPvl100OQUkUDddqqscIThaxX1NKLK/PyNX8MK2LOz2VTv
        R1difwgK1RGdXxnukIiv8xsS994EdQxtW6swD3yBddEj3JCgXloirwG60T4k4AN+
        woxZtIj0eDn1KgumTjQhLAbm4G5zVMqa3Ss0c1CZ74gwMPJl9sg9BzLBiPuVIIx6
        X+QohxaPxZfVgYp+Nmb4hHHgz6tGJUELFuJMdkx3l7FxvXerLl+cn4hpnAMJlcjh
        9wIDAQAB
        -----END PUBLIC KEY-----

        """

    static let ecPrivateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrkC/gM9k0m348aAy
        XLwLqP+8n+3B7XirGDvFYeggQB6hRANCAAQfK55oJs2t7wgeH/Lelf9CrwdUaXAh
        W8Iyo3BzkUYsXAKuE48iMkIMKeBdagjgpxH1u5Gw0LxiwulejJxZ8xkG
        -----END PRIVATE KEY-----

        """

    static let ecPublicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHyueaCbNre8IHh/y3pX/Qq8HVGlw
        IVvCMqNwc5FGLFwCrhOPIjJCDCngXWoI4KcR9buRsNC8YsLpXoycWfMZBg==
        -----END PUBLIC KEY-----

        """
}
