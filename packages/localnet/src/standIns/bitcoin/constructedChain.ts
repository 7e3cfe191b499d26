import { createHash } from 'node:crypto'
import { Transaction } from 'bitcoinjs-lib'
import { type Coin, Mempool } from './mempool.ts'

export type ConstructedBlock = {
  readonly hash: string
  readonly header: Buffer
  readonly transactions: readonly Transaction[]
}

/**
 * Header of regtest's first block.
 * @source Bitcoin Core, `CRegTestParams` in `src/kernel/chainparams.cpp`
 */
const firstHeader = Buffer.from(
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000',
  'hex',
)

/** Script of one byte, `OP_TRUE`. */
const trueScript = Uint8Array.of(0x51)

const usualStartSeconds = 1_700_000_000

/** Unix seconds of a block in a chain without a clock, where each block is ten minutes after the last. */
export const timeAt = (height: number, beganSeconds = usualStartSeconds): number =>
  beganSeconds + 600 * height

export type ChainOptions = {
  /** Unix seconds of the next block; default: ten minutes after the last one. */
  readonly clockSeconds?: () => number
  /** Called for each mined block, with its time and its transactions without the coinbase. */
  readonly onMined?: (timeSeconds: number, transactions: readonly Transaction[]) => void
  /** Called for each transaction that the mempool takes, before the sender is answered. */
  readonly onWaiting?: (transaction: Transaction) => void
}

/**
 * A chain that nobody mined: real transactions, ids, headers and merkle trees, without work and without
 * rules about what may be spent. `provenance: constructed`, from the serialisations of BIP 37, BIP 144 and
 * the block header of Bitcoin Core's developer reference. It begins with regtest's own first block.
 */
export class ConstructedChain {
  #blocks: ConstructedBlock[] = [{ hash: toId(hash256(firstHeader)), header: firstHeader, transactions: [] }]
  /** Blocks that reorganisations dropped; nodes still know them. */
  readonly #stale: ConstructedBlock[] = []
  readonly #mempool = new Mempool({
    confirmed: ({ txid, vout }) => this.#unspent(txid, vout),
    isMined: (txid) => this.find(txid)?.block !== undefined,
  })
  readonly #beganSeconds: number
  readonly #options: ChainOptions
  #index: ChainIndex | undefined
  /** Counts reorganisations, so that the blocks of every branch differ. */
  #branch = 0
  /** Fee rate that nodes estimate; undefined as on an unused network. */
  satPerKvb: number | undefined

  /** @param beganSeconds when its first block was: without a clock each one is ten minutes later */
  constructor(beganSeconds = usualStartSeconds, options: ChainOptions = {}) {
    this.#beganSeconds = beganSeconds
    this.#options = options
  }

  /** Unix seconds of a block, or of the next one. */
  timeAt(height: number): number {
    const { clockSeconds } = this.#options
    if (clockSeconds === undefined || height === 0) return timeAt(height, this.#beganSeconds)
    const block = this.#blocks[height]
    // A header's time begins at byte 68.
    return block === undefined ? clockSeconds() : block.header.readUInt32LE(68)
  }

  get tipHeight(): number {
    return this.#blocks.length - 1
  }

  /** Mines one block with a coinbase and these transactions. */
  mine(...transactions: readonly Transaction[]): ConstructedBlock {
    const height = this.#blocks.length
    const all = [coinbase(height, this.#branch), ...transactions]
    const previous = this.#blocks.at(-1)?.header ?? firstHeader
    const header = Buffer.alloc(80)
    // Version, previous hash, merkle root, time, target, nonce.
    header.writeUInt32LE(0x2000_0000, 0)
    hash256(previous).copy(header, 4)
    merkleRoot(all.map((one) => Buffer.from(one.getHash()))).copy(header, 36)
    header.writeUInt32LE(this.timeAt(height), 68)
    header.writeUInt32LE(0x207f_ffff, 72)
    header.writeUInt32LE(this.#branch, 76)
    const block = { hash: toId(hash256(header)), header, transactions: all }
    this.#blocks.push(block)
    this.#index = undefined
    for (const transaction of transactions) this.#mempool.mined(transaction)
    this.#options.onMined?.(this.timeAt(height), transactions)
    return block
  }

  mineEmpty(count: number): void {
    for (let left = count; left > 0; left -= 1) this.mine()
  }

  /** Begins a reorganisation: drops the newest blocks, whose transactions wait again. */
  drop(count: number): void {
    this.#branch += 1
    const dropped = this.#blocks.splice(this.#blocks.length - count)
    this.#index = undefined
    this.#stale.push(...dropped)
    for (const block of dropped) for (const one of block.transactions.slice(1)) this.announce(one)
  }

  /** Puts a transaction into the mempool without any rule. */
  announce(transaction: Transaction): void {
    this.#mempool.put(transaction)
  }

  /** Offers a transaction to the mempool, by the rules of nodes. @returns why it is refused */
  offer(transaction: Transaction): string | undefined {
    const refusal = this.#mempool.offer(transaction)
    if (refusal === undefined) this.#options.onWaiting?.(transaction)
    return refusal
  }

  /** Mines one block with all waiting transactions. */
  mineWaiting(): ConstructedBlock {
    return this.mine(...this.#mempool.all())
  }

  /** Empties the mempool, as nodes do after days or a restart. */
  forget(): void {
    this.#mempool.clear()
  }

  waiting(): readonly Transaction[] {
    return this.#mempool.all()
  }

  /** Unspent outputs of a script, by the blocks alone. */
  unspentOf(
    script: Uint8Array,
  ): readonly { readonly txid: string; readonly vout: number; readonly value: bigint }[] {
    const own = this.#indexed().outputs.get(hexOf(script)) ?? []
    return own.filter(({ txid, vout }) => this.spenderOf(txid, vout) === undefined)
  }

  #unspent(txid: string, vout: number): Coin | undefined {
    const transaction = this.find(txid)
    if (transaction?.block === undefined || this.spenderOf(txid, vout) !== undefined) return undefined
    return transaction.transaction.outs[vout]
  }

  blockAt(height: number): ConstructedBlock | undefined {
    return this.#blocks[height]
  }

  heightOf(hash: string): number | undefined {
    const height = this.#blocks.findIndex((block) => block.hash === hash)
    return height === -1 ? undefined : height
  }

  blockOf(hash: string): ConstructedBlock | undefined {
    return [...this.#blocks, ...this.#stale].find((block) => block.hash === hash)
  }

  /** A transaction in a block or, without `block`, in the mempool. */
  find(txid: string): { readonly transaction: Transaction; readonly block?: ConstructedBlock } | undefined {
    const mined = this.#indexed().mined.get(txid)
    if (mined !== undefined) return mined
    const waiting = this.#mempool.get(txid)
    return waiting && { transaction: waiting }
  }

  /** The transaction in a block that spends the output. */
  spenderOf(txid: string, vout: number): Transaction | undefined {
    return this.#indexed().spenders.get(`${txid} ${vout}`)
  }

  /** The index, which is built again after the blocks changed. */
  #indexed(): ChainIndex {
    this.#index ??= buildIndex(this.#blocks)
    return this.#index
  }

  /** The waiting transaction that spends the output. */
  mempoolSpenderOf(txid: string, vout: number): Transaction | undefined {
    // Inputs hold a hash in its own byte order, ids show it reversed.
    const hash = Buffer.from(txid, 'hex').reverse()
    return this.#mempool
      .all()
      .find((one) => one.ins.some((input) => Buffer.compare(input.hash, hash) === 0 && input.index === vout))
  }
}

/** Index over all blocks; the first of two entries with one key counts. */
type ChainIndex = {
  readonly mined: ReadonlyMap<string, { readonly transaction: Transaction; readonly block: ConstructedBlock }>
  /** By id and number of the output that they spend. */
  readonly spenders: ReadonlyMap<string, Transaction>
  /** By script in hex. */
  readonly outputs: ReadonlyMap<
    string,
    readonly { readonly txid: string; readonly vout: number; readonly value: bigint }[]
  >
}

function buildIndex(blocks: readonly ConstructedBlock[]): ChainIndex {
  const mined = new Map<string, { transaction: Transaction; block: ConstructedBlock }>()
  const spenders = new Map<string, Transaction>()
  const outputs = new Map<string, { txid: string; vout: number; value: bigint }[]>()
  for (const block of blocks)
    for (const transaction of block.transactions) {
      const txid = idOf(transaction)
      if (!mined.has(txid)) mined.set(txid, { transaction, block })
      for (const { hash, index } of transaction.ins) {
        const spent = `${toId(hash)} ${index}`
        if (!spenders.has(spent)) spenders.set(spent, transaction)
      }
      for (const [vout, { script, value }] of transaction.outs.entries()) {
        const own = outputs.get(hexOf(script)) ?? []
        own.push({ txid, vout, value })
        outputs.set(hexOf(script), own)
      }
    }
  return { mined, spenders, outputs }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Reads a transaction from its bytes in hex, with `0x` or without. */
export const transactionOf = (raw: string): Transaction => Transaction.fromHex(raw.replace(/^0x/, ''))

let fundings = 0

/** A transaction that makes outputs from an unknown one: a node would refuse it, a constructed block takes it. */
export function fundingTransaction(...outputs: readonly Coin[]): Transaction {
  fundings += 1
  const transaction = new Transaction()
  // Each call spends another unknown output, so that no two transactions are equal.
  transaction.addInput(Buffer.alloc(32, 0xf0 + (fundings % 15)), fundings, 0xffff_ffff, trueScript)
  for (const { script, value } of outputs) transaction.addOutput(script, value)
  return transaction
}

/** Ids of transactions in blocks, kept because a block's transactions do not change and hashing is slow. */
const ids = new WeakMap<Transaction, string>()

function idOf(transaction: Transaction): string {
  const id = ids.get(transaction) ?? transaction.getId()
  ids.set(transaction, id)
  return id
}

/** Serialised bytes of the whole block. */
export function blockBytes({ header, transactions }: ConstructedBlock): Buffer {
  // A count below 65,536 in its shortest form.
  const [low, high] = [transactions.length & 0xff, transactions.length >> 8]
  const count = transactions.length < 0xfd ? Buffer.of(low) : Buffer.of(0xfd, low, high)
  return Buffer.concat([header, count, ...transactions.map((one) => one.toBuffer())])
}

/** A merkle block that proves one transaction. @source BIP 37 */
export function merkleBlock({ header, transactions }: ConstructedBlock, txid: string): Buffer {
  const leaves = transactions.map((one) => Buffer.from(one.getHash()))
  const provenIndex = transactions.findIndex((one) => one.getId() === txid)
  const [flagBits, hashes]: [boolean[], Buffer[]] = [[], []]
  const levels = levelsOf(leaves)
  // BIP 37 lists the nodes depth first from the root. A flag says if a node is the proven leaf or lies above
  // it; that leaf and every node without the flag give their hash.
  const walk = (height: number, position: number): void => {
    const leadsToProven = provenIndex >> height === position
    flagBits.push(leadsToProven)
    if (height === 0 || !leadsToProven) {
      hashes.push(levels[height]?.[position] ?? Buffer.alloc(32))
      return
    }
    walk(height - 1, position * 2)
    if (position * 2 + 1 < (levels[height - 1]?.length ?? 0)) walk(height - 1, position * 2 + 1)
  }
  walk(levels.length - 1, 0)
  const flags = Buffer.alloc(Math.ceil(flagBits.length / 8))
  for (const [index, bit] of flagBits.entries()) {
    if (bit) flags[index >> 3] = (flags[index >> 3] ?? 0) | (1 << (index & 7))
  }
  const count = Buffer.alloc(4)
  count.writeUInt32LE(leaves.length)
  return Buffer.concat([header, count, Buffer.of(hashes.length), ...hashes, Buffer.of(flags.length), flags])
}

/** The levels of the merkle tree, the leaves first, the root last. */
function levelsOf(leaves: readonly Buffer[]): readonly (readonly Buffer[])[] {
  if (leaves.length === 1) return [leaves]
  const parents = leaves.flatMap((left, index) =>
    index % 2 === 0 ? [hash256(Buffer.concat([left, leaves[index + 1] ?? left]))] : [],
  )
  return [leaves, ...levelsOf(parents)]
}

function merkleRoot(leaves: readonly Buffer[]): Buffer {
  return levelsOf(leaves).at(-1)?.[0] ?? Buffer.alloc(32)
}

function coinbase(height: number, branch: number): Transaction {
  const transaction = new Transaction()
  transaction.addInput(
    new Uint8Array(32),
    0xffff_ffff,
    0xffff_ffff,
    // Pushes three bytes, which make the ids of coinbases differ.
    Uint8Array.of(3, height, height >> 8, branch),
  )
  transaction.addOutput(trueScript, 5_000_000_000n)
  return transaction
}

function hash256(bytes: Uint8Array): Buffer {
  const firstHash = createHash('sha256').update(bytes).digest()
  return createHash('sha256').update(firstHash).digest()
}

/** A hash in hex in the reversed byte order in which ids are written. */
function toId(hash: Uint8Array): string {
  return Buffer.from(hash).reverse().toString('hex')
}
