import { inspect } from 'node:util'

/** Holds a credential so that logs, JSON and string templates show `[redacted]` instead of it. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The one way to read the value. Search for `.reveal(` to audit every use. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '[redacted]'
  }

  toJSON(): string {
    return '[redacted]'
  }

  [inspect.custom](): string {
    return '[redacted]'
  }
}
