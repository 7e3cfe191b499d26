import { bech32, bech32m } from '@scure/base'
import { encodeBase58Check } from '../../hashing/base58Check.ts'
import { concatBytes } from '../../hashing/hexBytes.ts'
import { InvalidAddressError } from '../errors.ts'
import { type BitcoinNetwork, createBitcoinCodec } from './codec.ts'

const hashBytes = 20
const legacyDiscriminator = 0xff
const op1 = 0x51

/** What a script demands of its spender, as far as an address can say it. */
export type ScriptForm =
  | { readonly kind: 'public-key-hash' | 'script-hash'; readonly hash: Uint8Array }
  | { readonly kind: 'witness'; readonly version: number; readonly program: Uint8Array }

/**
 * The script that pays an address of `network`.
 * @throws InvalidAddressError; also for the native sentinel and for what nobody can spend
 * @source oracle-protocol.md 1.1
 */
export function outputScript(address: string, network: BitcoinNetwork): Uint8Array {
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
    // Versions without spending rules are no addresses here either way: anybody may spend what they hold.
    if (form.version > 1) return undefined
    const words = [form.version, ...bech32.toWords(form.program)]
    return (form.version === 0 ? bech32 : bech32m).encode(network.bech32Prefix, words)
  }
  const version = form.kind === 'public-key-hash' ? network.publicKeyHashVersion : network.scriptHashVersion
  return encodeBase58Check(concatBytes([Uint8Array.of(version), form.hash]))
}

export function encodeScript(form: ScriptForm): Uint8Array {
  switch (form.kind) {
    case 'public-key-hash':
      return Uint8Array.of(0x76, 0xa9, hashBytes, ...form.hash, 0x88, 0xac)
    case 'script-hash':
      return Uint8Array.of(0xa9, hashBytes, ...form.hash, 0x87)
    case 'witness': {
      const { version, program } = form
      return Uint8Array.of(version === 0 ? 0 : op1 - 1 + version, program.length, ...program)
    }
  }
}

/** `undefined` for a script without an address. */
export function readScript(script: Uint8Array): ScriptForm | undefined {
  const candidates: ScriptForm[] = [
    { kind: 'public-key-hash', hash: script.subarray(3, 3 + hashBytes) },
    { kind: 'script-hash', hash: script.subarray(2, 2 + hashBytes) },
  ]
  const first = script[0] ?? 0xff
  const version = first === 0 ? 0 : first - op1 + 1
  const program = script.subarray(2)
  const isProgram =
    version >= 0 && version <= 16 && (version === 0 ? [20, 32].includes(program.length) : isFuture(program))
  if (isProgram) candidates.push({ kind: 'witness', version, program })
  return candidates.find((form) => Buffer.compare(encodeScript(form), script) === 0)
}

function isFuture(program: Uint8Array): boolean {
  return program.length >= 2 && program.length <= 40
}
