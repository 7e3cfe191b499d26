import type { Hex } from '@causeway/core'
import { concatBytes, encodeBase58Check, utf8Bytes } from '@causeway/core'
import {
  type BitcoinNetwork,
  createBitcoinCodec,
  getOrCompute,
  InvalidAddressError,
} from '@causeway/core/encodings'
import { bech32, bech32m } from '@scure/base'
import { bitcoinLibrary, plainBytes } from './library.ts'

const hashBytes = 20
/** First byte of the codec's bytes of a base58 address; those of a bech32 address begin with the witness version. */
const legacyDiscriminator = 0xff
/** Bytes of a script with a witness program of 40 bytes. */
const longestForm = 42

/** Spending condition of a script, as far as an address can express it. */
export type ScriptForm =
  | { readonly kind: 'public-key-hash' | 'script-hash'; readonly hash: Uint8Array }
  | { readonly kind: 'witness'; readonly version: number; readonly program: Uint8Array }

/** Cached scripts of addresses, by network: the same few thousand addresses recur, and each quote needs several. */
const scripts = new WeakMap<BitcoinNetwork, Map<string, Uint8Array>>()

/**
 * The script that pays an address of `network`. All callers share one array and must not change it.
 * @throws InvalidAddressError; also for the native sentinel and for what nobody can spend
 */
export function outputScript(address: string, network: BitcoinNetwork): Uint8Array {
  const networkScripts = scripts.get(network) ?? new Map<string, Uint8Array>()
  scripts.set(network, networkScripts)
  return getOrCompute(networkScripts, address, () => deriveScript(address, network))
}

function deriveScript(address: string, network: BitcoinNetwork): Uint8Array {
  const codec = createBitcoinCodec(network)
  const bytes = codec.encodeAddress(address)
  if (!codec.isAddress(address)) {
    throw new InvalidAddressError({ vmType: 'bitcoin-vm', reason: 'nobody can spend from it' })
  }
  const [first = 0, second] = bytes
  if (first === legacyDiscriminator) {
    const kind = second === network.publicKeyHashVersion ? 'public-key-hash' : 'script-hash'
    return encodeScript({ kind, hash: bytes.subarray(2) })
  }
  return encodeScript({ kind: 'witness', version: first, program: bytes.subarray(1) })
}

/** The address that a script pays; `undefined` for scripts without one, such as OP_RETURN. */
export function scriptAddress(script: Uint8Array, network: BitcoinNetwork): string | undefined {
  const form = readScript(script)
  if (form === undefined) return undefined
  if (form.kind === 'witness') {
    // Versions above 1 have no spending rules yet: anybody may spend their outputs, so they count as no address.
    if (form.version > 1) return undefined
    const words = [form.version, ...bech32.toWords(form.program)]
    return (form.version === 0 ? bech32 : bech32m).encode(network.bech32Prefix, words)
  }
  const version = form.kind === 'public-key-hash' ? network.publicKeyHashVersion : network.scriptHashVersion
  return encodeBase58Check(concatBytes([Uint8Array.of(version), form.hash]))
}

export function encodeScript(form: ScriptForm): Uint8Array {
  const { compile, OPS } = bitcoinLibrary().script
  switch (form.kind) {
    case 'public-key-hash':
      return compile([OPS.OP_DUP, OPS.OP_HASH160, form.hash, OPS.OP_EQUALVERIFY, OPS.OP_CHECKSIG])
    case 'script-hash':
      return compile([OPS.OP_HASH160, form.hash, OPS.OP_EQUAL])
    case 'witness':
      return compile([form.version === 0 ? OPS.OP_0 : OPS.OP_1 - 1 + form.version, form.program])
  }
}

/**
 * OP_RETURN script with the order id as text, by which oracles attest that a transaction belongs to the order.
 * @source rule F-131
 */
export function orderScript(orderId: Hex): Uint8Array {
  const { compile, OPS } = bitcoinLibrary().script
  return compile([OPS.OP_RETURN, utf8Bytes(orderId)])
}

/**
 * Cached forms by the array itself, which nobody changes: a quote asks three times for the form of its user's script.
 */
const forms = new WeakMap<Uint8Array, { readonly form: ScriptForm | undefined }>()

/** The form of a script; `undefined` for a script without an address. */
export function readScript(script: Uint8Array): ScriptForm | undefined {
  const cached = forms.get(script)
  if (cached !== undefined) return cached.form
  const form = readForm(script)
  forms.set(script, { form })
  return form
}

function readForm(script: Uint8Array): ScriptForm | undefined {
  if (script.length > longestForm) return undefined
  const form = readChunks(bitcoinLibrary().script.decompile(plainBytes(script)) ?? [])
  // The whole script is compared: `readChunks` ignores most opcodes, and the library accepts longer pushes.
  if (form === undefined || Buffer.compare(encodeScript(form), script) !== 0) return undefined
  return form
}

/** Finds the hash or program at its position in each form. Its caller checks the opcodes around it. */
function readChunks(chunks: readonly (number | Uint8Array)[]): ScriptForm | undefined {
  const [first, second, third] = chunks
  if (chunks.length === 5 && isHash(third)) return { kind: 'public-key-hash', hash: third }
  if (chunks.length === 3 && isHash(second)) return { kind: 'script-hash', hash: second }
  if (chunks.length !== 2 || typeof first !== 'number' || !(second instanceof Uint8Array)) return undefined
  const { OP_0, OP_1, OP_16 } = bitcoinLibrary().script.OPS
  if (first === OP_0) {
    return [20, 32].includes(second.length) ? { kind: 'witness', version: 0, program: second } : undefined
  }
  if (first < OP_1 || first > OP_16 || !isProgram(second)) return undefined
  return { kind: 'witness', version: first - OP_1 + 1, program: second }
}

function isHash(chunk: number | Uint8Array | undefined): chunk is Uint8Array {
  return chunk instanceof Uint8Array && chunk.length === hashBytes
}

/** @source BIP 141, "Witness program" */
function isProgram(program: Uint8Array): boolean {
  return program.length >= 2 && program.length <= 40
}
