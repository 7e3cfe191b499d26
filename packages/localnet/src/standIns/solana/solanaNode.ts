import { encodeBase58 } from '@causeway/core'
import { VersionedTransaction } from '@solana/web3.js'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import {
  addressOf,
  enterBlock,
  execute,
  fund,
  type Loaded,
  loadAddresses,
  readAccount,
  readTokenAccount,
  simulate,
} from './ledgerState.ts'
import { describeError, type StoredTransaction, type TokenBalances } from './storedTransaction.ts'

export type Block = { readonly slot: bigint; readonly hash: string; readonly timeSeconds: bigint | null }
export type Commitment = 'processed' | 'confirmed' | 'finalized'

const genesisSeconds = 1_700_000_000n

/**
 * A cluster of one: programs run on the real Solana runtime (LiteSVM) with the real token programs; blocks,
 * commitments and their end are ours. Every transaction gets a slot of its own, final at once unless held.
 */
export class SolanaNode {
  readonly genesisHash: string
  #head: LiteSVM
  /** The state that cannot be lost; the head itself while nothing is held. */
  #final: LiteSVM
  #timeSeconds = genesisSeconds
  #slot = 1n
  #finalSlot = 1n
  readonly #blocks = new Map<bigint, Block>()
  readonly #transactions = new Map<string, StoredTransaction>()

  constructor() {
    this.#head = new LiteSVM()
    this.#final = this.#head
    this.genesisHash = this.#enterBlock().hash
  }

  addProgram(program: string, bytes: Uint8Array): void {
    this.#head.addProgram(addressOf(program), bytes)
  }
  airdrop(to: string, amount: bigint): void {
    fund(this.#head, to, amount)
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
    return this.#blocks.get(slot)
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

  /** Empty blocks. */
  mine(blocks: number, seconds = 0n): void {
    this.#timeSeconds += seconds
    for (let count = 0; count < blocks; count += 1) this.#next()
  }
  /** A slot in which no block was made. */
  skipSlot(): void {
    this.#slot += 1n
    this.mine(1)
  }
  /** A block whose time nobody recorded. */
  forgetTime(slot: bigint): void {
    const block = this.#blocks.get(slot)
    if (block !== undefined) this.#blocks.set(slot, { ...block, timeSeconds: null })
  }

  /** From here on blocks are confirmed and not final. */
  hold(): void {
    if (this.#final === this.#head) this.#final = LiteSVM.fromBytes(this.#head.toBytes())
  }
  finalize(): void {
    this.#final = this.#head
    this.#finalSlot = this.#slot
  }
  /** The cluster follows another fork: what was held never happened. */
  drop(): void {
    for (const [signature, { slot }] of this.#transactions) {
      if (slot > this.#finalSlot) this.#transactions.delete(signature)
    }
    for (const slot of this.#blocks.keys()) if (slot > this.#finalSlot) this.#blocks.delete(slot)
    this.#head = LiteSVM.fromBytes(this.#final.toBytes())
    this.#final = this.#head
    this.#slot = this.#finalSlot
    this.mine(1)
  }

  /** @returns the signature; as a node does, refuses what fails in a simulation unless told not to look */
  send(
    bytes: Uint8Array,
    options: { readonly skipPreflight: boolean },
  ): { signature: string } | { refusal: string } {
    const failure = options.skipPreflight ? undefined : simulate(this.#head, bytes)
    if (failure !== undefined) return { refusal: `${failure.toString()}` }
    const transaction = VersionedTransaction.deserialize(bytes)
    const signature = encodeBase58(transaction.signatures[0] ?? new Uint8Array())
    const loaded = loadAddresses(this.#head, transaction)
    const keys = [
      ...transaction.message.staticAccountKeys.map((key) => key.toBase58()),
      ...loaded.writable,
      ...loaded.readonly,
    ]
    const before = this.#balances(keys)
    const result = execute(this.#head, bytes)
    const after = this.#balances(keys)
    const meta = result instanceof FailedTransactionMetadata ? result.meta() : result
    this.#transactions.set(signature, {
      bytes,
      slot: this.#slot + 1n,
      version: transaction.version,
      loaded: transaction.version === 'legacy' ? noneLoaded : loaded,
      error: result instanceof FailedTransactionMetadata ? describeError(result) : null,
      inner: meta.innerInstructions(),
      logs: meta.logs(),
      unitsConsumed: meta.computeUnitsConsumed(),
      signatures: transaction.signatures.length,
      before,
      after,
    })
    this.#next()
    return { signature }
  }

  #balances(keys: readonly string[]): { lamports: readonly bigint[]; tokens: readonly TokenBalances[] } {
    return {
      lamports: keys.map((key) => readAccount(this.#head, key)?.lamports ?? 0n),
      tokens: keys.flatMap((key, accountIndex) => {
        const token = readTokenAccount(this.#head, key)
        return token === undefined ? [] : [{ accountIndex, ...token }]
      }),
    }
  }

  #next(): void {
    this.#slot += 1n
    if (this.#final === this.#head) this.#finalSlot = this.#slot
    this.#enterBlock()
  }

  #enterBlock(): Block {
    const hash = enterBlock(this.#head, this.#slot, this.#timeSeconds)
    const block = { slot: this.#slot, hash, timeSeconds: this.#timeSeconds }
    this.#blocks.set(this.#slot, block)
    return block
  }
}

const noneLoaded: Loaded = { writable: [], readonly: [] }
