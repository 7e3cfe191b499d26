import { concatBytes } from '@causeway/core'
import type { BufferReader } from 'bitcoinjs-lib/src/bufferutils'
import { readWholly } from './bytes.ts'
import { plainBytes, unlessRefused } from './library.ts'
import { type BitcoinOutput, displayed, doubleSha256, readOutput } from './transaction.ts'

export type BitcoinBlockHeader = {
  /** Display order, 64 lower-case hex digits; recomputed from the header's bytes. */
  readonly hash: string
  /** Bytes as the header has them, not reversed for display. */
  readonly merkleRoot: Uint8Array
  readonly timeSeconds: bigint
}

/** A header, and the transactions that a proof shows to be in its merkle tree. */
export type MerkleBlock = { readonly header: BitcoinBlockHeader; readonly transactionIds: readonly string[] }

/** Version (4 bytes), previous hash (32), merkle root (32), time (4), bits (4), nonce (4). */
const headerBytes = 80
const merkleRootStart = 36
const timeStart = 68
const hashBytes = 32
/** Limit of transactions in a block: it has 4,000,000 weight units at most, and a transaction at least 60 of them. */
const transactionsMax = 4_000_000 / 60

/** `undefined` for anything but the 80 bytes of a header. */
export function parseBlockHeader(bytes: Uint8Array): BitcoinBlockHeader | undefined {
  if (bytes.length !== headerBytes) return undefined
  return {
    hash: displayed(doubleSha256(bytes)),
    merkleRoot: bytes.subarray(merkleRootStart, merkleRootStart + hashBytes),
    timeSeconds: BigInt(new DataView(bytes.buffer, bytes.byteOffset).getUint32(timeStart, true)),
  }
}

/** The parts of a whole block that tell who is paid. */
export type BitcoinBlockContent = {
  readonly header: BitcoinBlockHeader
  /** Display order. */
  readonly previousHash: string
  readonly transactions: readonly {
    readonly transactionId: string
    readonly outputs: readonly BitcoinOutput[]
  }[]
}

/**
 * Reads a serialised block; `undefined` for anything else, and where its transactions are not those that the header
 * commits to.
 */
export function parseBitcoinBlock(bytes: Uint8Array): BitcoinBlockContent | undefined {
  const header = parseBlockHeader(bytes.subarray(0, headerBytes))
  if (header === undefined) return undefined
  return unlessRefused(({ Block }) => {
    const { prevHash, transactions = [] } = Block.fromBuffer(plainBytes(bytes))
    const root = Block.calculateMerkleRoot(transactions)
    if (prevHash === undefined || Buffer.compare(root, header.merkleRoot) !== 0) return undefined
    const ids = transactions.map((one) => one.getId())
    // A list that repeats its last transactions has the same root. @source CVE-2012-2459
    if (new Set(ids).size < ids.length) return undefined
    return {
      header,
      previousHash: displayed(prevHash),
      transactions: transactions.map(({ outs }, index) => ({
        transactionId: ids[index] ?? '',
        outputs: outs.map(readOutput),
      })),
    }
  })
}

/**
 * Reads a header with a partial merkle tree, as nodes prove that a block holds a transaction; `undefined`
 * unless the tree is well-formed and its root is the header's. @source BIP 37, "Partial Merkle branch format"
 */
export function parseMerkleBlock(bytes: Uint8Array): MerkleBlock | undefined {
  return readWholly(bytes, (reader) => {
    const header = parseBlockHeader(reader.readSlice(headerBytes))
    const count = reader.readUInt32()
    if (header === undefined || count === 0 || count > transactionsMax) return undefined
    const hashes = Array.from({ length: Number(reader.readVarInt()) }, () => reader.readSlice(hashBytes))
    const tree = new PartialTree(count, hashes, readFlags(reader))
    const root = tree.root()
    if (root === undefined || Buffer.compare(root, header.merkleRoot) !== 0) return undefined
    return { header, transactionIds: tree.matches.map(displayed) }
  })
}

function readFlags(reader: BufferReader): readonly boolean[] {
  return [...reader.readVarSlice()].flatMap((byte) =>
    Array.from({ length: 8 }, (_, bit) => ((byte >> bit) & 1) === 1),
  )
}

/**
 * Walks the tree depth first: one flag per node, set for a match and for all nodes above one, and one hash
 * per node that is not descended into. A node without a right neighbour is hashed together with itself.
 */
class PartialTree {
  /** Hashes of the transactions that the proof is about; filled by `root`. */
  readonly matches: Uint8Array[] = []
  readonly #count: number
  readonly #hashes: readonly Uint8Array[]
  readonly #flags: readonly boolean[]
  #usedHashes = 0
  #usedFlags = 0

  constructor(count: number, hashes: readonly Uint8Array[], flags: readonly boolean[]) {
    this.#count = count
    this.#hashes = hashes
    this.#flags = flags
  }

  /** The computed root; `undefined` if hashes or flags are missing or left over. The last byte of flags is padded. */
  root(): Uint8Array | undefined {
    let height = 0
    while (this.#width(height) > 1) height += 1
    const root = this.#node(height, 0)
    const leftover = this.#flags.length - this.#usedFlags
    const isUsedUp =
      this.#usedHashes === this.#hashes.length &&
      leftover < 8 &&
      !this.#flags.slice(this.#usedFlags).some((flag) => flag)
    return isUsedUp ? root : undefined
  }

  #width(height: number): number {
    return Math.ceil(this.#count / 2 ** height)
  }

  #node(height: number, position: number): Uint8Array | undefined {
    const isParentOfMatch = this.#flags[this.#usedFlags]
    this.#usedFlags += 1
    if (isParentOfMatch === undefined) return undefined
    if (height === 0 || !isParentOfMatch) {
      const hash = this.#hashes[this.#usedHashes]
      this.#usedHashes += 1
      if (hash !== undefined && isParentOfMatch) this.matches.push(hash)
      return hash
    }
    const left = this.#node(height - 1, 2 * position)
    const hasRight = 2 * position + 1 < this.#width(height - 1)
    const right = hasRight ? this.#node(height - 1, 2 * position + 1) : left
    if (left === undefined || right === undefined) return undefined
    // Equal halves would let one block be shown with two lists of transactions.
    if (hasRight && Buffer.compare(left, right) === 0) return undefined
    return doubleSha256(concatBytes([left, right]))
  }
}
