import { createHash } from 'node:crypto'
import { encodeBase58 } from '@causeway/core'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import type { ClusterEvent, SentEvent } from './clusterEvent.ts'
import { computeBudgetOf } from './computeBudget.ts'
import {
  addLamports,
  addressOf,
  enterBlock,
  execute,
  loadAddresses,
  placeAccount,
  readAccount,
  readTokenAccount,
  setClock,
  simulate,
  simulateUnsigned,
} from './ledgerState.ts'
import {
  describeError,
  type StoredTransaction,
  type TokenBalances,
  type TransactionVersion,
} from './storedTransaction.ts'
import { readWireTransaction, type WireTransaction, withBlockhash } from './wireTransaction.ts'

export type Block = { readonly slot: bigint; readonly hash: string; readonly timeSeconds: bigint | null }
export type Commitment = 'processed' | 'confirmed' | 'finalized'

const genesisSeconds = 1_700_000_000n
/** A transaction that names an older block never lands. @source Solana documentation, "Transaction confirmation" */
const recentBlocks = 150n

/**
 * A cluster of one node. Programs run on the real Solana runtime (LiteSVM) with the real token programs; slots, blocks
 * and commitments are imitated here. Every transaction gets a slot of its own, which is final at once unless `hold`
 * was called.
 */
export class SolanaNode {
  readonly genesisHash: string
  #head: LiteSVM
  /** The finalized state; the head itself while nothing is held. */
  #final: LiteSVM
  #timeSeconds = genesisSeconds
  #slot = 1n
  #finalSlot = 1n
  readonly #blocks = new Map<bigint, Block>()
  readonly #transactions = new Map<string, StoredTransaction>()
  /** Blockhashes, with the slot in which each was made and the last slot in which it was the newest. */
  readonly #blockhashes = new Map<string, { readonly madeIn: bigint; newestUntil: bigint }>()
  /** Version that the next transaction is shown with; undefined: its own. */
  #nextVersion: TransactionVersion | undefined
  readonly #watchers = new Set<() => void>()
  /** While set, every slot from `firstSlot` to the newest one has a block, an empty one where none is stored. */
  #clock: { readonly firstSlot: bigint; readonly slotMs: number } | undefined
  #onEvent: ((event: ClusterEvent) => void) | undefined

  constructor() {
    // The runtime remembers one blockhash; `#isRecent` checks them as a cluster does.
    this.#head = new LiteSVM().withBlockhashCheck(false)
    this.#final = this.#head
    this.genesisHash = this.#enterBlock().hash
  }

  addProgram(program: string, bytes: Uint8Array): void {
    this.#head.addProgram(addressOf(program), bytes)
  }
  /** Makes an account as if its program had made it. */
  place(key: string, account: { readonly owner: string; readonly data: Uint8Array }): void {
    placeAccount(this.#head, key, account)
    this.#onEvent?.({ place: key, ...account })
  }
  airdrop(to: string, amount: bigint): void {
    addLamports(this.#head, to, amount)
    this.#onEvent?.({ airdrop: to, amount })
  }
  rentExemption(dataLength: number): bigint {
    return this.#head.minimumBalanceForRentExemption(BigInt(dataLength))
  }
  latestBlockhash(): string {
    return this.#head.latestBlockhash()
  }

  slot(commitment: Commitment): bigint {
    return commitment === 'finalized' ? this.#finalSlot : this.#slot
  }
  block(slot: bigint): Block | undefined {
    return this.#blocks.get(slot) ?? this.#emptyBlock(slot)
  }
  account(key: string, commitment: Commitment) {
    return readAccount(commitment === 'finalized' ? this.#final : this.#head, key)
  }
  transaction(signature: string): StoredTransaction | undefined {
    return this.#transactions.get(signature)
  }
  isFinal({ slot }: { readonly slot: bigint }): boolean {
    return slot <= this.#finalSlot
  }

  /** Makes empty blocks with blockhashes that transactions may name. */
  mine(blocks: number, seconds = 0n): void {
    this.#timeSeconds += seconds
    for (let count = 0; count < blocks; count += 1) this.#nextSlot()
  }
  /**
   * Makes an empty block with the given time. Transactions cannot name its hash, only the last one of
   * `#enterBlock`.
   */
  tick(timeSeconds: bigint, slot = 0n): void {
    this.#timeSeconds = timeSeconds
    // The given slot, unless it has passed.
    this.#slot = slot > this.#slot ? slot : this.#slot + 1n
    if (this.#final === this.#head) this.#finalSlot = this.#slot
    setClock(this.#head, this.#slot, timeSeconds)
    // Under a clock `#emptyBlock` makes the block when it is asked for.
    if (this.#clock === undefined)
      this.#blocks.set(this.#slot, { slot: this.#slot, hash: this.#tickHash(this.#slot), timeSeconds })
    this.#notifyWatchers()
  }
  #tickHash(slot: bigint): string {
    return encodeBase58(createHash('sha256').update(`${this.genesisHash} ${slot}`).digest())
  }

  /**
   * From now on slots follow the clock, and each has a block, also those in which no process ran. Empty blocks are not
   * stored.
   */
  followClock(nowMs: number, slotMs: number): void {
    this.#clock = { firstSlot: slotAt(nowMs, slotMs), slotMs }
    this.#onEvent?.({ ...this.#clock })
    this.tickAt(nowMs)
  }
  /** Moves to the slot of the clock's time. Slots are counted from 1970. */
  tickAt(nowMs: number): void {
    if (this.#clock === undefined) throw new Error('the cluster follows no clock')
    this.tick(BigInt(Math.floor(nowMs / 1_000)), slotAt(nowMs, this.#clock.slotMs))
  }
  #emptyBlock(slot: bigint): Block | undefined {
    if (this.#clock === undefined || slot < this.#clock.firstSlot || slot > this.#slot) return undefined
    const timeSeconds = (slot * BigInt(this.#clock.slotMs)) / 1_000n
    return { slot, hash: this.#tickHash(slot), timeSeconds }
  }

  /** Calls `onEvent` for every later event of the cluster. */
  record(onEvent: (event: ClusterEvent) => void): void {
    this.#onEvent = onEvent
  }
  /** Repeats an event of an earlier cluster. All its events in order make this cluster equal to it. */
  replay(event: ClusterEvent): void {
    if ('airdrop' in event) this.airdrop(event.airdrop, event.amount)
    else if ('place' in event) this.place(event.place, event)
    else if ('firstSlot' in event) this.#clock = event
    else this.#replaySent(event)
  }
  #replaySent({ bytes, slot, timeSeconds }: SentEvent): void {
    const wire = readWireTransaction(bytes)
    if (wire === undefined) throw new Error('what was sent to the cluster is no transaction')
    // `#executeInNewSlot` moves one slot on.
    this.#slot = slot - 1n
    this.#timeSeconds = timeSeconds
    setClock(this.#head, this.#slot, timeSeconds)
    this.#executeInNewSlot(wire, bytes)
  }

  /** Skips a slot, so that it has no block. */
  skipSlot(): void {
    this.#slot += 1n
    this.mine(1)
  }
  /** Removes the time of a block, as of one whose time no node recorded. */
  forgetTime(slot: bigint): void {
    const block = this.#blocks.get(slot)
    if (block !== undefined) this.#blocks.set(slot, { ...block, timeSeconds: null })
  }

  /** From now on new blocks are confirmed and not final, until `finalize` or `drop`. */
  hold(): void {
    if (this.#final === this.#head) this.#final = copyOf(this.#head)
  }
  finalize(): void {
    this.#final = this.#head
    this.#finalSlot = this.#slot
    this.#notifyWatchers()
  }
  /** Follows another fork: everything since `hold` is undone. */
  drop(): void {
    for (const [signature, { slot }] of this.#transactions) {
      if (slot > this.#finalSlot) this.#transactions.delete(signature)
    }
    for (const [hash, { madeIn }] of this.#blockhashes)
      if (madeIn > this.#finalSlot) this.#blockhashes.delete(hash)
    for (const slot of this.#blocks.keys()) if (slot > this.#finalSlot) this.#blocks.delete(slot)
    this.#head = copyOf(this.#final)
    this.#final = this.#head
    this.#slot = this.#finalSlot
    // The first block of the other fork.
    this.mine(1)
  }

  /** Executes a transaction. As a node, it first simulates it, unless preflight is skipped. @returns the signature */
  send(
    bytes: Uint8Array,
    options: { readonly skipPreflight: boolean },
  ): { signature: string } | { refusal: string } {
    const wire = readWireTransaction(bytes)
    if (wire === undefined) return { refusal: 'failed to deserialize the transaction' }
    const { transaction } = wire
    const signature = encodeBase58(transaction.signatures[0] ?? new Uint8Array())
    // A cluster runs no transaction twice.
    if (this.#transactions.has(signature)) return { signature }
    // Without preflight a node answers the signature, although the transaction never lands.
    if (!this.#isRecent(transaction.message.recentBlockhash))
      return options.skipPreflight ? { signature } : { refusal: 'Blockhash not found' }
    const failure = options.skipPreflight ? undefined : simulate(this.#head, wire)
    if (failure !== undefined) return { refusal: `${failure.toString()}` }
    this.#onEvent?.({ bytes, slot: this.#slot + 1n, timeSeconds: this.#timeSeconds })
    this.#executeInNewSlot(wire, bytes)
    return { signature }
  }

  #executeInNewSlot(wire: WireTransaction, bytes: Uint8Array): void {
    const { transaction } = wire
    const signature = encodeBase58(transaction.signatures[0] ?? new Uint8Array())
    const loaded = loadAddresses(this.#head, transaction)
    const { message } = transaction
    const lockedKeys = [
      ...message.staticAccountKeys.map((key, index) => ({
        key: key.toBase58(),
        isWritable: message.isAccountWritable(index),
      })),
      ...loaded.writable.map((key) => ({ key, isWritable: true })),
      ...loaded.readonly.map((key) => ({ key, isWritable: false })),
    ]
    const keys = lockedKeys.map(({ key }) => key)
    const budget = computeBudgetOf(message)
    const before = this.#balances(keys)
    const result = execute(this.#head, wire)
    const after = this.#balances(keys)
    const meta = result instanceof FailedTransactionMetadata ? result.meta() : result
    const stored: StoredTransaction = {
      bytes,
      slot: this.#slot + 1n,
      version: this.#nextVersion ?? transaction.version,
      loaded,
      error: result instanceof FailedTransactionMetadata ? describeError(result) : null,
      inner: meta.innerInstructions(),
      logs: meta.logs(),
      unitsConsumed: meta.computeUnitsConsumed(),
      unitPrice: budget.price,
      feeLamports: budget.feeLamports,
      keys: lockedKeys,
      before,
      after,
    }
    this.#nextVersion = undefined
    this.#transactions.set(signature, stored)
    this.#nextSlot()
    this.#notifyWatchers()
  }

  /** Simulates a transaction, without a check of its signatures. `units` are the compute units that it used. */
  simulate(
    wire: WireTransaction,
    options: { readonly replacesBlockhash: boolean },
  ): { readonly error: unknown; readonly logs: readonly string[]; readonly units: bigint } {
    const currentWire = options.replacesBlockhash ? withBlockhash(wire, this.latestBlockhash()) : wire
    return simulateUnsigned(this.#head, currentWire)
  }

  /**
   * By slot, the price per compute unit of a transaction that wrote to all of the accounts; 0 where none did. A slot has at
   * most one transaction, so this is the least.
   * @source Solana documentation, getRecentPrioritizationFees
   */
  recentUnitPrices(accounts: readonly string[], slots = 150n): readonly (readonly [bigint, bigint])[] {
    const first = this.#slot > slots ? this.#slot - slots : 1n
    const least = new Map<bigint, bigint>()
    for (let slot = first; slot <= this.#slot; slot += 1n)
      if (this.block(slot) !== undefined) least.set(slot, 0n)
    for (const { slot, unitPrice, keys } of this.#transactions.values()) {
      const wrote = new Set(keys.flatMap(({ key, isWritable }) => (isWritable ? [key] : [])))
      if (least.has(slot) && accounts.every((account) => wrote.has(account))) least.set(slot, unitPrice)
    }
    return [...least]
  }

  /** Makes the node show a transaction, or the next one, as of this version. */
  showAs(signature: string | 'next', version: TransactionVersion): void {
    if (signature === 'next') {
      this.#nextVersion = version
      return
    }
    const stored = this.#transactions.get(signature)
    if (stored === undefined) throw new Error(`the node knows no transaction ${signature}`)
    this.#transactions.set(signature, { ...stored, version })
  }

  /** Transactions of a block, in their order. */
  transactionsIn(slot: bigint): readonly (readonly [string, StoredTransaction])[] {
    return [...this.#transactions].filter(([, stored]) => stored.slot === slot)
  }

  /** Transactions that name an account, the newest first. */
  transactionsOf(account: string): readonly (readonly [string, StoredTransaction])[] {
    return [...this.#transactions]
      .filter(([, { keys }]) => keys.some(({ key }) => key === account))
      .toReversed()
  }

  /** Calls `notify` when a block was made or became final. @returns a function that ends this */
  watch(notify: () => void): () => void {
    this.#watchers.add(notify)
    return () => this.#watchers.delete(notify)
  }

  #isRecent(blockhash: string): boolean {
    const newestUntil =
      blockhash === this.latestBlockhash() ? this.#slot : this.#blockhashes.get(blockhash)?.newestUntil
    return newestUntil !== undefined && newestUntil + recentBlocks >= this.#slot
  }

  #balances(keys: readonly string[]): { lamports: readonly bigint[]; tokens: readonly TokenBalances[] } {
    const accounts = keys.map((key) => readAccount(this.#head, key))
    return {
      lamports: accounts.map((account) => account?.lamports ?? 0n),
      tokens: accounts.flatMap((account, accountIndex) => {
        const token = account && readTokenAccount(this.#head, account)
        return token === undefined ? [] : [{ accountIndex, ...token }]
      }),
    }
  }

  #notifyWatchers(): void {
    for (const notify of this.#watchers) notify()
  }

  #nextSlot(): void {
    this.#slot += 1n
    if (this.#final === this.#head) this.#finalSlot = this.#slot
    this.#enterBlock()
  }

  #enterBlock(): Block {
    const lastBlockhash = this.#blockhashes.get(this.latestBlockhash())
    if (lastBlockhash !== undefined) lastBlockhash.newestUntil = this.#slot
    const hash = enterBlock(this.#head, this.#slot, this.#timeSeconds)
    this.#blockhashes.set(hash, { madeIn: this.#slot, newestUntil: this.#slot })
    const block = { slot: this.#slot, hash, timeSeconds: this.#timeSeconds }
    this.#blocks.set(this.#slot, block)
    return block
  }
}

const slotAt = (nowMs: number, slotMs: number): bigint => BigInt(Math.floor(nowMs / slotMs))

const copyOf = (ledger: LiteSVM) => LiteSVM.fromBytes(ledger.toBytes()).withBlockhashCheck(false)
