// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The functions that compiled filters call, with the meaning of `ODataOperator` and `ODataFunction`.
///
/// A value is null or a text whose first character is the type: `b0` and `b1`, `i` and an integer, `d` and a double, `t`
/// and a text, `z` and a time in the form of stored times, `j` and the JSON of an object or array. Functions with one
/// expression are in the language SQL, so that the planner replaces their calls.
enum PostgreSQLFunctions {
    /// The statements that create all functions, or replace them.
    static let creation =
        (values + fields + dates + comparisons + arithmetic + texts + numbers + caseMappings)
        .map(\.creation).joined(separator: ";\n")

    static let values = [
        PostgreSQLFunction(
            "odata_bool(condition boolean) RETURNS text",
            expression: "CASE WHEN condition THEN 'b1' WHEN NOT condition THEN 'b0' END"),
        PostgreSQLFunction(
            "odata_truth(value text) RETURNS boolean",
            expression: "CASE value WHEN 'b1' THEN TRUE WHEN 'b0' THEN FALSE END"),
        PostgreSQLFunction("odata_date(stored text) RETURNS text", expression: "'z' || stored"),
        PostgreSQLFunction(
            "odata_version(revision bigint) RETURNS text",
            expression: "'t' || encode(convert_to(revision::text, 'UTF8'), 'base64')"),
        // The text of an id, which is not stored with codes: see StoredText.
        PostgreSQLFunction(
            "odata_text(content text) RETURNS text",
            expression: #"""
                't' || CASE WHEN content !~ '[\uFDD0-\uFDD2]' THEN content ELSE (
                    SELECT string_agg(
                        CASE part
                            WHEN U&'\FDD0' THEN U&'\FDD0\FDD1\FDD2'
                            WHEN U&'\FDD1' THEN U&'\FDD0\FDD2\FDD1'
                            WHEN U&'\FDD2' THEN U&'\FDD0\FDD2\FDD2'
                            ELSE part
                        END, '' ORDER BY position)
                    FROM regexp_split_to_table(content, '') WITH ORDINALITY AS parts (part, position)) END
                """#),
        // The UTF-8 of a text with codes.
        PostgreSQLFunction(
            "odata_bytes(content text) RETURNS bytea",
            expression: #"""
                CASE WHEN strpos(content, U&'\FDD0') = 0 THEN convert_to(content, 'UTF8') ELSE decode(
                    replace(replace(replace(replace(encode(convert_to(content, 'UTF8'), 'hex'),
                        'efb790efb791efb791', '00'), 'efb790efb791efb792', 'efb790'),
                        'efb790efb792efb791', 'efb791'), 'efb790efb792efb792', 'efb792'), 'hex') END
                """#),
    ]
}

/// A function of the database.
struct PostgreSQLFunction {
    let creation: String

    /// A function in the language SQL.
    init(_ declaration: String, expression: String) {
        creation = Self.creation(declaration, language: "sql", body: "SELECT \(expression)")
    }

    /// A function in the language PL/pgSQL.
    init(_ declaration: String, body: String) {
        creation = Self.creation(declaration, language: "plpgsql", body: body)
    }

    private static func creation(_ declaration: String, language: String, body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(declaration) LANGUAGE \(language) IMMUTABLE AS $function$\n\(body)\n$function$"
    }
}
