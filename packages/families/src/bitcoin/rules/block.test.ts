// Goal: headers and merkle proofs are read as nodes write them, and nothing else is a proof. Method: the first
// block of the main network, trees built by other code, and damaged bytes. @source BIP 37
import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { damaged, outcomeOf } from '../../../../core/test/fixtures/hostileBytes.ts'
import { parseBitcoinBlock, parseBlockHeader, parseMerkleBlock } from './block.ts'

const genesis =
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c'
const genesisHash = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'
const genesisTransaction = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'

const hash256 = (bytes: Uint8Array): Buffer =>
  createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest()
const shown = (hash: Uint8Array): string => Buffer.from(hash).reverse().toString('hex')

test('the first header of the main network has its hash, root and time', () => {
  const header = parseBlockHeader(Buffer.from(genesis, 'hex'))
  expect(header).toMatchObject({ hash: genesisHash, timeSeconds: 1_231_006_505n })
  expect(shown(header?.merkleRoot ?? new Uint8Array())).toBe(genesisTransaction)
})

test.each([0, 79, 81])('%i bytes are no header', (length) => {
  expect(parseBlockHeader(new Uint8Array(length))).toBeUndefined()
})

/** A transaction that pays `satoshi`, less than 256, to an empty script. */
const transactionBytes = (satoshi: number): Buffer =>
  Buffer.from(
    `0200000001${'11'.repeat(32)}0000000000ffffffff01${Buffer.of(satoshi).toString('hex')}${'00'.repeat(12)}`,
    'hex',
  )

test('F-132: a block whose list repeats its last transactions is none, though its root stays the same', () => {
  const [one, two, three] = [transactionBytes(1), transactionBytes(2), transactionBytes(3)]
  const [left, right] = [Buffer.concat([hash256(one), hash256(two)]), hash256(three)]
  const root = hash256(Buffer.concat([hash256(left), hash256(Buffer.concat([right, right]))]))
  const blockOf = (list: readonly Buffer[]) =>
    Buffer.concat([Buffer.alloc(36, 7), root, Buffer.alloc(12, 9), Buffer.of(list.length), ...list])
  expect(parseBitcoinBlock(blockOf([one, two, three]))?.transactions).toMatchObject(
    [one, two, three].map((bytes) => ({ transactionId: shown(hash256(bytes)) })),
  )
  expect(parseBitcoinBlock(blockOf([one, two, three, three]))).toBeUndefined()
  // Nor is one whose transactions are others than those that its header commits to.
  for (const list of [
    [one, two],
    [two, one, three],
    [one, two, transactionBytes(4)],
  ])
    expect(parseBitcoinBlock(blockOf(list))).toBeUndefined()
})

/** A merkle block that proves the leaves at `wanted`, as Bitcoin Core's `CPartialMerkleTree` builds it. */
function merkleBlock(leaves: readonly Buffer[], wanted: ReadonlySet<number>): Buffer {
  const [bits, hashes]: [boolean[], Buffer[]] = [[], []]
  const nodeAt = (height: number, position: number): Buffer => {
    if (height === 0) return leaves[position] ?? Buffer.alloc(32)
    const left = nodeAt(height - 1, position * 2)
    const hasRight = (position * 2 + 1) * 2 ** (height - 1) < leaves.length
    return hash256(Buffer.concat([left, hasRight ? nodeAt(height - 1, position * 2 + 1) : left]))
  }
  const walk = (height: number, position: number): void => {
    const isParent = [...wanted].some((leaf) => leaf >> height === position)
    bits.push(isParent)
    if (height === 0 || !isParent) return void hashes.push(nodeAt(height, position))
    walk(height - 1, position * 2)
    if ((position * 2 + 1) * 2 ** (height - 1) < leaves.length) walk(height - 1, position * 2 + 1)
  }
  const height = Math.ceil(Math.log2(leaves.length))
  walk(height, 0)
  const header = Buffer.concat([Buffer.alloc(36, 7), nodeAt(height, 0), Buffer.alloc(12, 9)])
  const flags = Buffer.alloc(Math.ceil(bits.length / 8))
  for (const [index, bit] of bits.entries()) {
    if (bit) flags.writeUInt8(flags.readUInt8(index >> 3) | (1 << (index & 7)), index >> 3)
  }
  const count = Buffer.alloc(4)
  count.writeUInt32LE(leaves.length)
  return Buffer.concat([header, count, Buffer.of(hashes.length), ...hashes, Buffer.of(flags.length), flags])
}

const leavesOf = (count: number) => Array.from({ length: count }, (_, index) => hash256(Buffer.of(index)))
const proofs = fc
  .integer({ min: 1, max: 40 })
  .chain((count) => fc.tuple(fc.constant(count), fc.uniqueArray(fc.nat(count - 1), { minLength: 1 })))
  .map(([count, wanted]) => ({ leaves: leavesOf(count), wanted: wanted.toSorted((a, b) => a - b) }))

describe('a proof', () => {
  test('shows the transactions that it was built for, in blocks of any size', () => {
    fc.assert(
      fc.property(proofs, ({ leaves, wanted }) => {
        const bytes = merkleBlock(leaves, new Set(wanted))
        const proof = parseMerkleBlock(bytes)
        expect(proof?.header.hash).toBe(shown(hash256(bytes.subarray(0, 80))))
        expect(proof?.transactionIds).toEqual(wanted.map((leaf) => shown(leaves[leaf] ?? Buffer.alloc(0))))
      }),
      { endOnFailure: true },
    )
  })

  test('of the first block is its only transaction', () => {
    const leaf = Buffer.from(genesisTransaction, 'hex').reverse()
    const tail = Buffer.concat([Buffer.from('0100000001', 'hex'), leaf, Buffer.from('0101', 'hex')])
    const proof = parseMerkleBlock(Buffer.concat([Buffer.from(genesis, 'hex'), tail]))
    expect(proof).toMatchObject({ header: { hash: genesisHash }, transactionIds: [genesisTransaction] })
  })

  test('damaged in any way is refused, or shows nothing that its header does not hold', () => {
    const built = proofs.map(({ leaves, wanted }) => ({
      leaves,
      bytes: merkleBlock(leaves, new Set(wanted)),
    }))
    fc.assert(
      fc.property(
        built.chain(({ leaves, bytes }) => {
          const hex: Hex = `0x${bytes.toString('hex')}`
          return fc.tuple(fc.constant(leaves.map(shown)), damaged(fc.constant(hex)))
        }),
        ([ids, hex]) => {
          const proof = outcomeOf(() => parseMerkleBlock(Buffer.from(hex.slice(2), 'hex')))
          for (const id of proof?.transactionIds ?? []) expect(ids).toContain(id)
        },
      ),
      { numRuns: 2_000, endOnFailure: true },
    )
  })

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['nothing', () => Buffer.alloc(0)],
    ['the header alone', (bytes) => bytes.subarray(0, 80)],
    ['no transaction', (bytes) => Buffer.concat([bytes.subarray(0, 80), Buffer.alloc(6)])],
    ['more transactions than fit into a block', (bytes) => withCount(bytes, 0xffff_ffff)],
    ['another number of transactions', (bytes) => withCount(bytes, 9)],
    ['a tail', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ['a number of hashes in two bytes', (bytes) => replaced(bytes, 84, `fd${hexOf(bytes, 84)}00`)],
    [
      'a number of hashes in eight bytes',
      (bytes) => replaced(bytes, 84, `ff${hexOf(bytes, 84)}${'00'.repeat(7)}`),
    ],
    ['more hashes than there are', (bytes) => replaced(bytes, 84, 'ffffffffffffffffff')],
    ['a number of flags in two bytes', (bytes) => replaced(bytes, -2, `fd${hexOf(bytes, -2)}00`)],
    ['more flags than there are', (bytes) => replaced(bytes, -2, 'feffffffff')],
    [
      'a flag too many',
      (bytes) => Buffer.concat([bytes.subarray(0, -2), Buffer.of(2), bytes.subarray(-1), Buffer.of(0)]),
    ],
    ['a flag that only pads and is set', (bytes) => replaced(bytes, -1, padded(bytes))],
    [
      'a hash that the tree does not use',
      (bytes) =>
        replaced(Buffer.concat([bytes.subarray(0, -2), Buffer.alloc(32, 5), bytes.subarray(-2)]), 84, '05'),
    ],
    ['another root', (bytes) => Buffer.concat([Buffer.alloc(80), bytes.subarray(80)])],
  ])('of %s is none', (_name, change) => {
    expect(parseMerkleBlock(change(merkleBlock(leavesOf(5), new Set([3]))))).toBeUndefined()
  })

  test('whose tree repeats a half is none: it could show other transactions', () => {
    const [one = Buffer.alloc(0), two = Buffer.alloc(0), three = Buffer.alloc(0)] = leavesOf(3)
    expect(parseMerkleBlock(merkleBlock([one, two, three], new Set([2])))).toBeDefined()
    expect(parseMerkleBlock(merkleBlock([one, two, three, three], new Set([3])))).toBeUndefined()
  })
})

/** The byte of flags, whose last bit stands for no node of a tree of five leaves with one proven. */
function padded(bytes: Buffer): string {
  return ((bytes.at(-1) ?? 0) | 0x80).toString(16)
}

function withCount(bytes: Buffer, count: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt32LE(count, 80)
  return changed
}

/** The one byte at a position, counted from the end where it is negative. */
function hexOf(bytes: Buffer, at: number): string {
  return bytes.subarray(at).subarray(0, 1).toString('hex')
}

function replaced(bytes: Buffer, at: number, digits: string): Buffer {
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(digits, 'hex'), bytes.subarray(at).subarray(1)])
}
