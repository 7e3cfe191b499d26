import { bytesToHex, concatBytes, type Hex, hexToBytes, keccak256 } from '@causeway/core'
import { guardianQuorum } from '@causeway/core/config'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'

/** Guardians of a set whose keys the test holds. They sign in the real format; nobody else knows them. */
export type TestGuardians = {
  readonly index: number
  readonly addresses: readonly Hex[]
  readonly keys: readonly Hex[]
}

export function testGuardians(count: number, index = 4): TestGuardians {
  const keys = Array.from({ length: count }, () => generatePrivateKey())
  return { index, keys, addresses: keys.map((key) => lowerCase(privateKeyToAddress(key))) }
}

export type PriceMessage = {
  readonly feedId: Hex
  readonly price: bigint
  readonly conf: bigint
  readonly expo: number
  readonly publishTime: number
}

/** Deviations of a stand-in from the real network. */
export type UpdateOptions = {
  readonly guardians: TestGuardians
  /** Which guardians sign, by index and in this order; default the fewest that are enough. */
  readonly signers?: readonly number[]
  readonly setIndex?: number
  readonly emitterChain?: number
  readonly emitter?: Hex
  /** Stands in for the root that the messages have. */
  readonly root?: Uint8Array
  /** Kind of the signed payload; default that of a root of prices. */
  readonly payloadKind?: string
  /** First byte of each message; default that of a price. */
  readonly messageKind?: number
  /** Written behind the fields of each message, before it is hashed. */
  readonly messageTail?: Uint8Array
  /** Changes a message after its proof was made. */
  readonly swap?: (message: Uint8Array, index: number) => Uint8Array
  readonly version?: number
  readonly signature?: (signature: Uint8Array, position: number) => Uint8Array
}

const pythnetEmitter: Hex = `0x${Buffer.from('PythnetPythnetPythnetPythnetPyth').toString('hex')}`

/** An accumulator update as Hermes publishes it: one signed root, each message with its proof. */
export async function priceUpdate(
  messages: readonly PriceMessage[],
  options: UpdateOptions,
): Promise<Uint8Array> {
  const encoded = messages.map((message) =>
    concatBytes([encodeMessage(message, options.messageKind), options.messageTail ?? new Uint8Array()]),
  )
  const { root, proofs } = merkleTree(encoded)
  const message = await wormholeMessage(rootPayload(options.root ?? root, options.payloadKind), options)
  const updates = encoded.flatMap((bytes, index) => {
    const sent = options.swap?.(bytes, index) ?? bytes
    const proof = proofs[index] ?? []
    return [unsigned(sent.length, 2), sent, unsigned(proof.length, 1), ...proof]
  })
  return concatBytes([
    ascii('PNAU'),
    Uint8Array.of(1, 0, 0, 0),
    unsigned(message.length, 2),
    message,
    unsigned(encoded.length, 1),
    ...updates,
  ])
}

function encodeMessage({ feedId, price, conf, expo, publishTime }: PriceMessage, kind = 0): Uint8Array {
  const time = unsigned(publishTime, 8)
  return concatBytes([
    Uint8Array.of(kind),
    hexToBytes(feedId),
    ...[signed(price, 8), signed(conf, 8), signed(BigInt(expo), 4)],
    ...[time, time, signed(price, 8), signed(conf, 8)],
  ])
}

function rootPayload(root: Uint8Array, kind = 'AUWV'): Uint8Array {
  return concatBytes([ascii(kind), Uint8Array.of(0), unsigned(7, 8), unsigned(10_000, 4), root])
}

async function wormholeMessage(payload: Uint8Array, options: UpdateOptions): Promise<Uint8Array> {
  const { guardians, emitterChain = 26, emitter = pythnetEmitter } = options
  const signers = options.signers ?? [...Array(guardianQuorum(guardians.keys.length)).keys()]
  const body = concatBytes([
    ...[unsigned(1_800_000_000, 4), unsigned(0, 4)],
    ...[unsigned(emitterChain, 2), hexToBytes(emitter), unsigned(9, 8), Uint8Array.of(1), payload],
  ])
  const hash = bytesToHex(keccak256(keccak256(body)))
  const signatures = await Promise.all(
    signers.map(async (guardian, position) => {
      const key = guardians.keys[guardian] ?? generatePrivateKey()
      const { r, s, yParity } = await sign({ hash, privateKey: key })
      const signature = concatBytes([...[hexToBytes(r), hexToBytes(s), Uint8Array.of(yParity ?? 0)]])
      return concatBytes([Uint8Array.of(guardian), options.signature?.(signature, position) ?? signature])
    }),
  )
  return concatBytes([
    Uint8Array.of(options.version ?? 1),
    unsigned(options.setIndex ?? guardians.index, 4),
    Uint8Array.of(signers.length),
    ...signatures,
    body,
  ])
}

/** Leaves are filled up to a power of two; a node hashes its children in ascending order. */
function merkleTree(leaves: readonly Uint8Array[]): { root: Uint8Array; proofs: Uint8Array[][] } {
  let width = 1
  while (width < leaves.length) width *= 2
  const leafHashes = leaves.map((leaf) => shortHash([Uint8Array.of(0), leaf]))
  const filler = shortHash([Uint8Array.of(2)])
  let level = Array.from({ length: width }, (_, index) => leafHashes[index] ?? filler)
  const proofs: Uint8Array[][] = leaves.map(() => [])
  for (let depth = 0; level.length > 1; depth += 1) {
    for (const [leaf, proof] of proofs.entries()) proof.push(level[(leaf >> depth) ^ 1] ?? filler)
    level = Array.from({ length: level.length / 2 }, (_, index) =>
      nodeHash(level[2 * index] ?? filler, level[2 * index + 1] ?? filler),
    )
  }
  return { root: level[0] ?? filler, proofs }
}

export function nodeHash(a: Uint8Array, b: Uint8Array): Uint8Array {
  return shortHash([Uint8Array.of(1), ...(Buffer.compare(a, b) <= 0 ? [a, b] : [b, a])])
}

export function shortHash(parts: readonly Uint8Array[]): Uint8Array {
  return keccak256(concatBytes(parts)).subarray(0, 20)
}

function unsigned(value: number, byteCount: number): Uint8Array {
  return signed(BigInt(value), byteCount)
}

function signed(value: bigint, byteCount: number): Uint8Array {
  const digits = BigInt.asUintN(8 * byteCount, value)
    .toString(16)
    .padStart(2 * byteCount, '0')
  return hexToBytes(`0x${digits}`)
}

function ascii(text: string): Uint8Array {
  return Buffer.from(text, 'ascii')
}

function lowerCase(address: Hex): Hex {
  return `0x${address.slice(2).toLowerCase()}`
}
