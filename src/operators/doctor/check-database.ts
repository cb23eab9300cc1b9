/** Checks the database of `store.url`: its connection, the durability of commits, and the schema. */
import { asOperatorError, OperatorError } from '../../errors.ts'
import { FIRST_VERSION, NEWEST_VERSION } from '../../store/migrations.ts'
import type { DatabaseState, lookAtDatabase } from '../../store/postgres/look.ts'
import { newer, older } from '../../store/refusals.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

/** Sessions that are silent are ended by the server from this version on. */
const OLDEST_VERSION = 14

/** How the settings name the database. */
type NamedDatabase = Parameters<typeof lookAtDatabase>[0]

/** @param database null when the store is in a file. Never throws for a failed check. */
export async function checkDatabase(database: NamedDatabase | null): Promise<CheckLine[]> {
  if (database === null) return []
  const look = await import('../../store/postgres/look.ts')
  const state = await look.lookAtDatabase(database).catch(asOperatorError)
  if (state instanceof OperatorError) return [fail('database', state.message, state.hint)]
  return databaseLines(state, { name: database.schema, newest: NEWEST_VERSION })
}

/** @param schema its name, and the newest version that this program knows */
export const databaseLines = (
  state: DatabaseState,
  schema: { name: string; newest: number },
): CheckLine[] => [serverLine(state), commitsLine(state), schemaLine(state, schema)]

function serverLine({ place, version, versionNumber, tls }: DatabaseState): CheckLine {
  const message = `PostgreSQL ${version}, ${place}`
  if (Math.floor(versionNumber / 10_000) < OLDEST_VERSION) {
    const hint = `upgrade it: Postern needs version ${OLDEST_VERSION} or later`
    return fail('database', message, hint)
  }
  const way = tls === null ? 'on this machine, without TLS' : `${tls}, and it proves who it is`
  return pass('database', `${message}: ${way}`)
}

function commitsLine({ standbys, isFsyncOn }: DatabaseState): CheckLine {
  if (!isFsyncOn) {
    return warn(
      'commits',
      'fsync is off: when the server’s machine dies, keys and latches are lost',
      'set fsync = on at the server',
    )
  }
  return pass(
    'commits',
    standbys === ''
      ? 'wait for the server’s disk; for no standby, so that a fail-over may lose the last of them'
      : `wait for the server’s disk, and for that of its standbys: ${standbys}`,
  )
}

function schemaLine(
  { schema, canMakeSchema, place }: DatabaseState,
  { name, newest }: { name: string; newest: number },
): CheckLine {
  if (schema === null) {
    return canMakeSchema
      ? pass('schema', `there is no ${name} yet; \`postern run\` makes it`)
      : fail(
          'schema',
          `there is no ${name}, and this user may not make it`,
          'GRANT CREATE ON DATABASE for the first start, or make it: CREATE SCHEMA … AUTHORIZATION …',
        )
  }
  const { foreignTables, store } = schema
  if (foreignTables > 0) {
    return fail(
      'schema',
      `${foreignTables} tables of ${name} belong to another user`,
      `give them to the user of store.url (${place}): ALTER TABLE … OWNER TO …`,
    )
  }
  if (store === null) return pass('schema', `${name} is empty; \`postern run\` makes the store`)
  const { version, oldest } = store
  if (version < FIRST_VERSION || oldest > newest) {
    const { message, hint } =
      oldest > newest ? newer(oldest, newest) : older(version, FIRST_VERSION)
    return fail('schema', message, hint)
  }
  const after = version < newest ? `, which the next start brings to ${newest}` : ''
  return pass('schema', `${name} has version ${version}${after}`)
}
