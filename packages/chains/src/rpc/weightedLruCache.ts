/** Keeps the values used last, up to a number of entries and to a sum of weights: memory stays bounded. */
export class WeightedLruCache<Value> {
  readonly #entriesMax: number
  readonly #weightMax: number
  /** Insertion order is order of use, oldest first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  #weight = 0

  constructor(limits: { readonly entriesMax: number; readonly weightMax: number }) {
    this.#entriesMax = limits.entriesMax
    this.#weightMax = limits.weightMax
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: Value, weight: number): void {
    this.#remove(key)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax && this.#weight <= this.#weightMax) break
      this.#remove(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  #remove(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
