import type { Hex } from '@causeway/core'

export type StateValue = bigint | Hex

type Version = { readonly height: number; readonly value: StateValue }

/** Storage of contracts, with every height's value, so that a reader asks at a final one and a block can be dropped. */
export class VersionedState {
  readonly #versions = new Map<string, Version[]>()
  #height = 0
  /** Writes since the transaction began, newest last. */
  readonly #written: { readonly key: string; readonly before: readonly Version[] }[] = []

  /** Assigns later writes to the block at `height`. */
  openBlock(height: number): void {
    this.#height = height
    this.#written.length = 0
  }

  number(key: string, height?: number): bigint {
    const value = this.#at(key, height)
    return typeof value === 'bigint' ? value : 0n
  }

  bytes(key: string, height?: number): Hex {
    const value = this.#at(key, height)
    return typeof value === 'string' ? value : '0x'
  }

  set(key: string, value: StateValue): void {
    const before = this.#versions.get(key) ?? []
    this.#written.push({ key, before })
    const kept = before.at(-1)?.height === this.#height ? before.slice(0, -1) : before
    this.#versions.set(key, [...kept, { height: this.#height, value }])
  }

  /** A place to come back to when a call fails. */
  mark(): number {
    return this.#written.length
  }

  undoTo(mark: number): void {
    for (const { key, before } of this.#written.splice(mark).reverse()) this.#versions.set(key, [...before])
  }

  /** Forgets the blocks above `height`. */
  rewind(height: number): void {
    for (const [key, versions] of this.#versions) {
      const kept = versions.filter((version) => version.height <= height)
      if (kept.length < versions.length) this.#versions.set(key, kept)
    }
    this.openBlock(height)
  }

  #at(key: string, height = Number.POSITIVE_INFINITY): StateValue | undefined {
    const versions = this.#versions.get(key) ?? []
    return versions.findLast((version) => version.height <= height)?.value
  }
}
