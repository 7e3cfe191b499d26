/** Keeps the entries used last, up to a number or a weight: memory stays bounded whatever callers ask for. */
export class LruCache<Value> {
  readonly #weightMax: number
  readonly #weightOf: (value: Value) => number
  #weight = 0
  /** Insertion order is order of use, oldest first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>()

  /** @param weightOf of a value when it is set; one that weighs more than all may is not kept */
  constructor(weightMax: number, weightOf: (value: Value) => number = () => 1) {
    this.#weightMax = weightMax
    this.#weightOf = weightOf
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: Value): void {
    this.delete(key)
    const weight = this.#weightOf(value)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax) break
      this.delete(oldest)
    }
  }

  /** All entries, the one used last first; none of them counts as used by it. */
  newestFirst(): readonly (readonly [key: string, value: Value])[] {
    return [...this.#entries].map(([key, { value }]) => [key, value] as const).reverse()
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
