/** Keeps the entries used last, up to a number: memory stays bounded whatever callers ask for. */
export class LruCache<Value> {
  readonly #entriesMax: number
  /** Insertion order is order of use, oldest first. */
  readonly #entries = new Map<string, Value>()

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#entriesMax && oldest !== undefined) this.#entries.delete(oldest)
  }

  /** All entries, the one used last first; none of them counts as used by it. */
  newestFirst(): readonly (readonly [key: string, value: Value])[] {
    return [...this.#entries].reverse()
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
