// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension PostgreSQLFunctions {
    /// Fields as values, and in the forms of compiled comparisons and of sort keys.
    static let fields = [
        // The JSON of a field; null if there is none.
        PostgreSQLFunction(
            "odata_token(fields json, name text) RETURNS text",
            expression: "nullif((fields -> name)::text, 'null')"),
        PostgreSQLFunction(
            "odata_field(fields json, name text) RETURNS text",
            body: """
                DECLARE
                    token text := fields -> name;
                BEGIN
                    CASE left(token, 1)
                        WHEN '"' THEN RETURN 't' || (token::json #>> '{}');
                        WHEN 't' THEN RETURN 'b1';
                        WHEN 'f' THEN RETURN 'b0';
                        WHEN 'n' THEN RETURN NULL;
                        WHEN '{', '[' THEN RETURN 'j' || token;
                        ELSE RETURN CASE WHEN token ~ '[.e]' THEN 'd' ELSE 'i' END || token;
                    END CASE;
                END
                """),
        // A number such that two numbers compare exactly. The texts of doubles have their order, but a large one is not
        // exactly its double, which can be an integer.
        PostgreSQLFunction(
            "odata_exact(number float8) RETURNS numeric",
            expression: """
                CASE WHEN abs(number) >= 9007199254740992 AND number >= -9223372036854775808
                    AND number < 9223372036854775808
                THEN number::bigint::numeric ELSE number::text::numeric END
                """),
        // A number in this form; null for values of other types.
        PostgreSQLFunction(
            "odata_number(fields json, name text) RETURNS numeric",
            body: """
                DECLARE
                    token text := fields -> name;
                BEGIN
                    IF token IS NULL OR left(token, 1) IN ('"', 't', 'f', 'n', '{', '[') THEN RETURN NULL; END IF;
                    IF token ~ '[.e]' THEN RETURN odata_exact(token::float8); END IF;
                    RETURN token::numeric;
                END
                """),
        PostgreSQLFunction(
            "odata_sort_rank(fields json, name text) RETURNS integer",
            expression: """
                CASE left((fields -> name)::text, 1)
                    WHEN 'n' THEN 0 WHEN 't' THEN 1 WHEN 'f' THEN 1 WHEN '"' THEN 3 WHEN '{' THEN 4 WHEN '[' THEN 4
                    ELSE CASE WHEN (fields -> name) IS NULL THEN 0 ELSE 2 END
                END
                """),
        PostgreSQLFunction(
            "odata_sort_number(fields json, name text) RETURNS numeric",
            expression: """
                CASE (fields -> name)::text
                    WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE odata_number(fields, name)
                END
                """),
        PostgreSQLFunction(
            "odata_sort_text(fields json, name text) RETURNS bytea",
            expression:
                "CASE WHEN left((fields -> name)::text, 1) = '\"' THEN odata_bytes(fields ->> name) END"),
    ]

    /// The instant of a date, or of a text that is one, in the form of stored times; null for other values.
    static let dates =
        [
            PostgreSQLFunction(
                "odata_instant(value text) RETURNS text",
                body: #"""
                    DECLARE
                        part text[];
                        instant timestamp;
                    BEGIN
                        IF left(value, 1) = 'z' THEN RETURN substr(value, 2); END IF;
                        part := regexp_match(value,
                            '^t([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})'
                            '(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))?$');
                        IF part IS NULL OR part[1]::integer = 0 OR part[2]::integer NOT BETWEEN 1 AND 12
                            OR part[3]::integer = 0 OR part[4]::integer > 23 OR part[5]::integer > 59
                            OR part[6]::integer > 59 OR part[9]::integer > 23 OR part[10]::integer > 59
                        THEN RETURN NULL; END IF;
                        IF part[3]::integer > extract(day FROM
                            make_date(part[1]::integer, part[2]::integer, 1) + interval '1 month - 1 day')
                        THEN RETURN NULL; END IF;
                        instant := make_timestamp(part[1]::integer, part[2]::integer, part[3]::integer,
                            part[4]::integer, part[5]::integer, part[6]::integer);
                        IF part[8] IS NOT NULL THEN
                            instant := instant - (part[8] || '1')::integer
                                * make_interval(hours => part[9]::integer, mins => part[10]::integer);
                            IF instant < '0001-01-01' OR instant >= '10000-01-01' THEN RETURN NULL; END IF;
                        END IF;
                        RETURN to_char(instant, 'YYYY-MM-DD"T"HH24:MI:SS.') || rpad(coalesce(part[7], ''), 9, '0');
                    END
                    """#)
        ]
        + [
            ("year", 1, 4), ("month", 6, 2), ("day", 9, 2), ("hour", 12, 2), ("minute", 15, 2),
            ("second", 18, 2),
        ]
        .map { name, start, length in
            PostgreSQLFunction(
                "odata_\(name)(value text) RETURNS text",
                expression: "'i' || substr(odata_instant(value), \(start), \(length))::integer")
        }
}
