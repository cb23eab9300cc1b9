/**
 * Operations as data: a table holds the input and code of each. Servers, clients and the types of
 * both are derived from it.
 */
import type { z } from 'zod'

/** An operation that can be called by name. `On` is its context. */
export interface Operation<On, I extends z.ZodType, R> {
  input: I
  run: (on: On, input: z.output<I>) => R | Promise<R>
}

/** An operation of any input and result, for code that iterates over a table. */
export interface AnyOperation<On, I extends z.ZodType = z.ZodType> {
  input: I
  run: (on: On, input: never) => unknown
}

/** Gives the function that makes operations which work on `On`. */
export const operationsOn =
  <On>() =>
  <I extends z.ZodType, R>(input: I, run: Operation<On, I, R>['run']): Operation<On, I, R> => ({
    input,
    run,
  })

/** The operations of a table as one calls them; an input without a required field may be left out. */
export type Calls<Table> = {
  [Name in keyof Table]: Table[Name] extends { run: (on: never, input: infer I) => infer R }
    ? (...input: Record<string, never> extends I ? [input?: I] : [input: I]) => Promise<Awaited<R>>
    : never
}

/**
 * Makes the calls of a table.
 * @param call does the work; `name` is one of the table's, `input` an empty object when
 *   it was left out
 */
export function deriveCalls<Table extends object>(
  table: Table,
  call: (name: keyof Table & string, input: object) => Promise<unknown>,
): Calls<Table> {
  const names = Object.keys(table) as (keyof Table & string)[]
  const calls = names.map((name) => [name, (input: object = {}) => call(name, input)])
  return Object.fromEntries(calls) as Calls<Table>
}

/** Makes the calls of a table in this process. Inputs are not validated. */
export const bindCalls = <On, Table extends Record<string, AnyOperation<On>>>(
  table: Table,
  on: On,
): Calls<Table> =>
  deriveCalls(table, async (name, input) => await table[name]?.run(on, input as never))

/**
 * Makes the calls of a table from its type alone, so that a client loads no operation.
 * @param extra further members of the client, such as its disposal
 */
export const remoteCalls = <Table, Extra extends object>(
  call: (name: string, input: object) => Promise<unknown>,
  extra: Extra,
): Calls<Table> & Extra =>
  new Proxy(extra, {
    get: (target, name) =>
      // An awaited client must not be a thenable.
      typeof name !== 'string' || name === 'then' || Object.hasOwn(target, name)
        ? (Reflect.get(target, name) as unknown)
        : (input: object = {}) => call(name, input),
  }) as Calls<Table> & Extra
