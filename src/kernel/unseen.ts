/** An answer of the service: `Sightings` alone gives its content, and first records what it shows. */

let read: (answer: Unseen) => unknown

export class Unseen {
  readonly #content: unknown

  /** @param content the `result` of a successful answer, parsed */
  constructor(content: unknown) {
    this.#content = content
  }

  static {
    read = (answer) => answer.#content
  }
}

/** The content of an answer. For `sightings.ts` alone: `index.ts` does not export it. */
export const contentOf = (answer: Unseen): unknown => read(answer)

/** True for a JSON object, false for arrays, null and scalars. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
