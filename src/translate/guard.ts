/** What may leave: made here and nowhere else, taken by the upstream client and by nothing else. */
class Permit {
  /** `send` is POST /messages, `edit` is PATCH /messages/{id}. */
  readonly route: 'send' | 'edit'
  /** Path below the API prefix, encoded. */
  readonly path: string
  /** The request body, JSON, as it will stand on the wire; the same bytes on every retry. */
  readonly body: string
  readonly #made = true

  constructor(route: 'send' | 'edit', path: string, body: string) {
    this.route = route
    this.path = path
    this.body = body
  }

  /** False for anything that only looks like a permit. */
  static isReal(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #made in value && value.#made
  }
}

/** A send or an edit that the guard let through. */
export type Outbound = Permit

/** True when the guard made it; the upstream client asks before it sends. */
export const isOutbound = (value: unknown): value is Outbound => Permit.isReal(value)
