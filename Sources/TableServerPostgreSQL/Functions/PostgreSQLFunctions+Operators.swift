// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension PostgreSQLFunctions {
    /// The order of two values: -1, 0 or 1; null if their types do not compare.
    static let comparisons =
        [
            PostgreSQLFunction(
                "odata_order(a text, b text) RETURNS integer",
                body: #"""
                    DECLARE
                        x numeric;
                        y numeric;
                        m text;
                        n text;
                    BEGIN
                        CASE left(a, 1) || left(b, 1)
                            WHEN 'ii', 'id', 'di', 'dd' THEN
                                x := CASE left(a, 1) WHEN 'i' THEN substr(a, 2)::numeric
                                    ELSE odata_exact(substr(a, 2)::float8) END;
                                y := CASE left(b, 1) WHEN 'i' THEN substr(b, 2)::numeric
                                    ELSE odata_exact(substr(b, 2)::float8) END;
                                RETURN CASE WHEN x < y THEN -1 WHEN x = y THEN 0 ELSE 1 END;
                            WHEN 'bb', 'zz' THEN
                                RETURN CASE WHEN a COLLATE "C" < b THEN -1 WHEN a COLLATE "C" = b THEN 0 ELSE 1 END;
                            WHEN 'tt' THEN
                                IF a COLLATE "C" = b THEN RETURN 0; END IF;
                                IF strpos(a || b, U&'\FDD0') > 0 THEN
                                    RETURN CASE WHEN odata_bytes(a) < odata_bytes(b) THEN -1 ELSE 1 END;
                                END IF;
                                RETURN CASE WHEN a COLLATE "C" < b THEN -1 ELSE 1 END;
                            WHEN 'zt', 'tz' THEN
                                m := odata_instant(a);
                                n := odata_instant(b);
                                RETURN CASE WHEN m COLLATE "C" < n THEN -1 WHEN m COLLATE "C" = n THEN 0
                                    WHEN m COLLATE "C" > n THEN 1 END;
                            ELSE RETURN NULL;
                        END CASE;
                    END
                    """#),
            PostgreSQLFunction(
                "odata_eq(a text, b text) RETURNS boolean",
                expression: comparison("coalesce(odata_order(a, b) = 0, FALSE)")),
            PostgreSQLFunction(
                "odata_ne(a text, b text) RETURNS boolean",
                expression: comparison("coalesce(odata_order(a, b) <> 0, TRUE)")),
        ]
        + [("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")].map { name, sign in
            PostgreSQLFunction(
                "odata_\(name)(a text, b text) RETURNS boolean", expression: "odata_order(a, b) \(sign) 0")
        }

    private static func comparison(_ expression: String) -> String {
        "CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN \(expression) END"
    }

    /// Integers overflow to doubles, and division of an integer by zero is null. A double that overflows is infinite, and one
    /// that underflows is zero.
    static let arithmetic =
        [
            PostgreSQLFunction(
                "odata_calculate(operation text, a text, b text) RETURNS text",
                body: """
                    DECLARE
                        x numeric;
                        y numeric;
                    BEGIN
                        IF left(a, 1) = 'i' AND left(b, 1) = 'i' THEN
                            x := substr(a, 2);
                            y := substr(b, 2);
                            IF y = 0 AND operation IN ('div', 'mod') THEN RETURN NULL; END IF;
                            x := CASE operation WHEN 'add' THEN x + y WHEN 'sub' THEN x - y WHEN 'mul' THEN x * y
                                WHEN 'div' THEN div(x, y) ELSE mod(x, y) END;
                            IF x BETWEEN -9223372036854775808 AND 9223372036854775807 THEN RETURN 'i' || x; END IF;
                        END IF;
                        IF left(a, 1) NOT IN ('i', 'd') OR left(b, 1) NOT IN ('i', 'd') THEN RETURN NULL; END IF;
                        RETURN 'd' || odata_calculate(operation, substr(a, 2)::float8, substr(b, 2)::float8);
                    END
                    """),
            PostgreSQLFunction(
                "odata_calculate(operation text, a float8, b float8) RETURNS float8",
                body: """
                    DECLARE
                        result float8;
                    BEGIN
                        CASE operation
                            WHEN 'add' THEN result := a + b;
                            WHEN 'sub' THEN result := a - b;
                            WHEN 'mul' THEN result := a * b;
                            WHEN 'div' THEN
                                IF b = 0 THEN RETURN NULL; END IF;
                                result := a / b;
                            ELSE RETURN NULL;
                        END CASE;
                        RETURN nullif(result, 'NaN');
                    EXCEPTION WHEN numeric_value_out_of_range THEN
                        RETURN CASE
                            WHEN operation IN ('add', 'sub') THEN sign(a) * 'Infinity'::float8
                            WHEN ln(abs(a)) + CASE operation WHEN 'mul' THEN 1 ELSE -1 END * ln(abs(b)) > 0
                            THEN sign(a) * sign(b) * 'Infinity'::float8
                            ELSE 0
                        END;
                    END
                    """),
        ]
        + ["add", "sub", "mul", "div", "mod"].map { name in
            PostgreSQLFunction(
                "odata_\(name)(a text, b text) RETURNS text", expression: "odata_calculate('\(name)', a, b)")
        }

    /// A half is rounded away from zero.
    static let numbers = [
        ("floor", "floor(x)"), ("ceiling", "ceil(x)"),
        ("round", "trunc(x) + CASE WHEN abs(x - trunc(x)) >= 0.5 THEN sign(x) ELSE 0 END"),
    ].map { name, expression in
        PostgreSQLFunction(
            "odata_\(name)(value text) RETURNS text",
            body: """
                DECLARE
                    x float8;
                BEGIN
                    IF left(value, 1) = 'i' THEN RETURN value; END IF;
                    IF left(value, 1) IS DISTINCT FROM 'd' THEN RETURN NULL; END IF;
                    x := substr(value, 2);
                    RETURN 'd' || (\(expression));
                END
                """)
    }
}
