/** What is in `fixtures/store-0.1.0.db`, beside three keys: pending, active and retired. */
export const FIRST_STORE = {
  file: 'store-0.1.0.db',
  version: 16,
  passphrase: 'words of 0.1.0',
  botId: 7,
  webhook: 'of the webhook',
  /** One row of every other table. */
  rows: [
    `INSERT INTO chats VALUES (1, 'private', 10, NULL, NULL, 5)`,
    `INSERT INTO people VALUES (5, 10, NULL)`,
    `INSERT INTO names VALUES (5, 'alice')`,
    `INSERT INTO certificates VALUES ('aa', 5, NULL, 'armored', 'digest')`,
    `INSERT INTO seen VALUES (x'00', 'data', 1, 2, 5, 10, NULL, 3, 9, 0, 1, 0)`,
    `INSERT INTO confirmed VALUES (1, 4, 0)`,
    `INSERT INTO encryption_keys VALUES ('bb', 5, 10)`,
    `INSERT INTO media VALUES ('file', 1, '5', 10, x'01')`,
    `INSERT INTO presses VALUES ('press', 1, 10)`,
    `INSERT INTO pins VALUES (5, 'aa', 10, 'verified', 'aa', 10, NULL, NULL, 0)`,
    `INSERT INTO key_changes VALUES (5, 'cc', 'aa', NULL, NULL)`,
    `INSERT INTO trust_policies VALUES (0, 'pinned')`,
    `INSERT INTO lists VALUES (1, '[[5,"aa"]]', NULL)`,
    `INSERT INTO journal VALUES (1, 10, 'kind', 5, 1, '{}')`,
    `INSERT INTO outcomes VALUES (3, 10, 1, 2, 5, 'verified', NULL, 1, NULL, 'aa')`,
    `INSERT INTO sent VALUES (2, 10, 1, 1, '[]')`,
    `INSERT INTO webhook VALUES (1, 'https://bot.example/', 0, NULL, 3, NULL)`,
  ],
}
