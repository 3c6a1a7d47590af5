// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import Testing

/// Mistakes in schemas, and the messages that name the model, the property and the remedy.
@Suite struct SchemaMistakeTests {
    @Test func `a property without a field`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = "", color = "red"
            static let schema = ModelSchema("Note", Note(), .field("text", \.text))
        }
        await expectMistake(
            Note.self,
            """
            Note.color has no field in the schema, so it would not be stored. Add .field("color", \\.color), for \
            which it must be a var, or .transient(\\.color).
            """)
    }

    @Test func `a part of a property without a field`() async {
        struct Address: Sendable {
            var city = "", zip = ""
            var place = (0.0, 0.0)
        }
        struct Contact: SyncModel {
            var id = SyncID<Contact>()
            var home = Address()
            static let schema = ModelSchema(
                "Contact", Contact(), .field("city", \.home.city), .field("latitude", \.home.place.0))
        }
        await expectMistake(
            Contact.self,
            """
            Contact.home.zip has no field in the schema, so it would not be stored. Add .field("zip", \\.home.zip), for \
            which it must be a var, or .transient(\\.home.zip).
            """)
    }

    @Test func `a field of a computed property`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = ""
            var title: String {
                get { text }
                set { text = newValue }
            }
            static let schema = ModelSchema("Note", Note(), .field("text", \.text), .field("title", \.title))
        }
        await expectMistake(
            Note.self,
            """
            The property of the column 'title' in the schema of Note is computed or has observers. Use a stored property \
            without observers.
            """)
    }

    @Test func `a field of a property with an observer is the only mistake`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = "" { didSet {} }
            static let schema = ModelSchema("Note", Note(), .field("text", \.text))
        }
        await expectMistake(
            Note.self,
            """
            The property of the column 'text' in the schema of Note is computed or has observers. Use a stored property \
            without observers.
            """)
    }

    @Test func `a transient field of a property with an observer is no mistake`() throws {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = ""
            var draft = "" { didSet {} }
            static let schema = ModelSchema(
                "Note", Note(), .field("text", \.text), .transient(\.draft))
        }
        try Note.schema.check()
    }

    @Test func `a transient field of one property with an observer is not for another one`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var draft = "" { didSet {} }
            var color = ""
            static let schema = ModelSchema("Note", Note(), .transient(\.draft))
        }
        await expectMistake(
            Note.self,
            """
            Note.color has no field in the schema, so it would not be stored. Add .field("color", \\.color), for \
            which it must be a var, or .transient(\\.color).
            """)
    }

    @Test func `columns that differ in case only`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = "", title = ""
            static let schema = ModelSchema("Note", Note(), .field("text", \.text), .field("Text", \.title))
        }
        await expectMistake(
            Note.self,
            """
            Note.title and Note.text have the columns 'Text' and 'text', which differ in case only. Give one of them \
            another column.
            """)
    }

    @Test func `an invalid table name`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            static let schema = ModelSchema("my notes", Note())
        }
        await expectMistake(
            Note.self,
            """
            'my notes', the table of Note, is not a valid name. Use a letter or underscore, then letters, digits and \
            underscores, at most 128.
            """)
    }

    @Test func `a table with a name of system tables`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            static let schema = ModelSchema("MS_Notes", Note())
        }
        await expectMistake(
            Note.self,
            """
            'MS_Notes', the table of Note, has a name of system tables. Use one that does not begin with 'MS_' or \
            'sqlite_'.
            """)
    }

    @Test func `two fields of one property`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = ""
            static let schema = ModelSchema("Note", Note(), .field("text", \.text), .field("title", \.text))
        }
        await expectMistake(Note.self, "Note.text has two fields in the schema. Remove one of them.")
    }

    @Test func `a field of a part of a property that has a field`() async {
        struct Address: Codable, Equatable, Sendable { var city = "", zip = "" }
        struct Contact: SyncModel {
            var id = SyncID<Contact>()
            var home = Address()
            static let schema = ModelSchema(
                "Contact", Contact(), .field("city", \.home.city), .json("home", \.home))
        }
        await expectMistake(
            Contact.self,
            "Contact.home.city is a part of Contact.home, which has a field. Remove one of them.")
    }

    @Test func `one column of two properties`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = "", title = ""
            static let schema = ModelSchema("Note", Note(), .field("text", \.text), .field("text", \.title))
        }
        await expectMistake(
            Note.self,
            "Note.title and Note.text have the same column 'text'. Give one of them another column.")
    }

    @Test func `a column that the server sets`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var changed: Timestamp?
            static let schema = ModelSchema("Note", Note(), .field("updatedAt", \.changed))
        }
        await expectMistake(
            Note.self,
            """
            Note.changed cannot have the column 'updatedAt', which the server sets. Show it with .system(_:) and a \
            property of type SystemProperties.
            """)
    }

    @Test func `a name that is no column name`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = ""
            static let schema = ModelSchema("Note", Note(), .field("my text", \.text))
        }
        await expectMistake(
            Note.self,
            """
            'my text', the column of Note.text, is not a valid name. Use a letter or underscore, then letters, digits \
            and underscores, at most 128.
            """)
    }

    @Test func `a field of the id`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            static let schema = ModelSchema("Note", Note(), .field("noteId", \.id))
        }
        await expectMistake(
            Note.self,
            "Note.id needs no field, because the id is always mapped. Remove the field from the schema.")
    }

    @Test func `options that do not fit the type`() async {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text: String?
            var title = "", draft = ""
            static let schema = ModelSchema(
                "Note", Note(), .field("text", \.text, .required), .field("title", \.title, .unordered),
                .field("draft", \.draft, [.required, .localOnly]))
        }
        await expectMistake(
            Note.self,
            """
            Note.text is optional and .required. Make the property non-optional, or remove .required.
            Note.title is .unordered, and not a SyncID. Remove .unordered.
            Note.draft is .required and .localOnly, so that no row of the server could be read. Remove one of the options.
            """)
    }

    @Test func `a reference to a model that the store does not have`() async {
        #expect(
            await message { try [SyncTableDefinition].models(Todo.self) }
                == """
                Todo.list refers to TodoList, which the store is opened without. Add TodoList.self to the models, or \
                mark the field .unordered.
                """)
    }

    @Test func `two models of one table`() async {
        struct OldTodo: SyncModel {
            var id = SyncID<OldTodo>()
            static let schema = ModelSchema("TodoItem", OldTodo())
        }
        #expect(
            await message { try [SyncTableDefinition].models(OldTodo.self, Todo.self, TodoList.self) }
                == "OldTodo and Todo have the same table 'TodoItem'. Declare one model of each table.")
    }

    @Test func `two models whose tables differ in case only`() async {
        struct OldTodo: SyncModel {
            var id = SyncID<OldTodo>()
            static let schema = ModelSchema("todoItem", OldTodo())
        }
        #expect(
            await message { try [SyncTableDefinition].models(OldTodo.self, Todo.self, TodoList.self) }
                == """
                OldTodo and Todo have the tables 'todoItem' and 'TodoItem', which differ in case only. Rename one of \
                them.
                """)
    }

    @Test func `references that form a cycle`() async {
        struct A: SyncModel {
            var id = SyncID<A>()
            var b: SyncID<B>?
            static let schema = ModelSchema("A", A(), .field("b", \.b))
        }
        struct B: SyncModel {
            var id = SyncID<B>()
            var a: SyncID<A>?
            static let schema = ModelSchema("B", B(), .field("a", \.a))
        }
        struct Child: SyncModel {
            var id = SyncID<Child>()
            var a: SyncID<A>?
            static let schema = ModelSchema("Child", Child(), .field("a", \.a))
        }
        #expect(
            await message { try [SyncTableDefinition].models(A.self, Child.self, B.self, TodoList.self) }
                == """
                The references between A, B form a cycle, so pushes cannot order them. Mark one of the fields \
                .unordered.
                """)
    }

    @Test func `a model that is listed twice`() async {
        let opening = await message { try [SyncTableDefinition].models(TodoList.self, TodoList.self) }
        #expect(opening == "TodoList is listed twice in the models. List it once.")
    }

    @Test func `the schemas of the other tests have no mistakes`() throws {
        for model in [Todo.self, TodoList.self, Page.self] as [any SyncModel.Type] { try check(model) }
    }

    private func check<Model: SyncModel>(_ model: Model.Type) throws { try Model.schema.check() }

    private func expectMistake<Model: SyncModel>(
        _ model: Model.Type, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        #expect(await message { try Model.schema.check() } == expected, sourceLocation: sourceLocation)
        let opening = await message { try [SyncTableDefinition].models(model) }
        #expect(opening == expected, sourceLocation: sourceLocation)
    }
}
