import { bech32, bech32m } from '@scure/base'
import { ConfigurationError } from '../errors.ts'
import { decodeBase58Check } from '../hashing/base58Check.ts'
import { concatBytes } from '../hashing/hexBytes.ts'
import { createVmCodec, type ParsedAddress, parseBareHash, type Refusal, type VmCodec } from './vmCodec.ts'

/** Parameters that distinguish the addresses of Bitcoin networks. */
export type BitcoinNetwork = {
  /** Human-readable part of segwit addresses. */
  readonly bech32Prefix: string
  /** Version bytes of base58check addresses. */
  readonly publicKeyHashVersion: number
  readonly scriptHashVersion: number
}

export const bitcoinMainnet: BitcoinNetwork = {
  bech32Prefix: 'bc',
  publicKeyHashVersion: 0x00,
  scriptHashVersion: 0x05,
}

const bitcoinTestnet: BitcoinNetwork = {
  bech32Prefix: 'tb',
  publicKeyHashVersion: 0x6f,
  scriptHashVersion: 0xc4,
}

/** By the name in a chain's `additionalData.network`. */
export const bitcoinNetworks = {
  mainnet: bitcoinMainnet,
  testnet: bitcoinTestnet,
  /** Spells its addresses like the test network. */
  signet: bitcoinTestnet,
  regtest: { ...bitcoinTestnet, bech32Prefix: 'bcrt' },
} as const satisfies Readonly<Record<string, BitcoinNetwork>>

/** @throws ConfigurationError when no network has this name; without a name it is the main one */
export function bitcoinNetworkOf(name: string | undefined): BitcoinNetwork {
  if (name === undefined) return bitcoinMainnet
  const match = Object.entries(bitcoinNetworks).find(([networkName]) => networkName === name)
  if (match === undefined) throw new ConfigurationError(`no Bitcoin network is called ${name.slice(0, 32)}`)
  return match[1]
}

/** Sets legacy addresses apart from witness programs, whose first byte is a version of at most 16. */
const legacyDiscriminator = Uint8Array.of(0xff)
const bech32LengthMax = 90
const witnessVersionMax = 16

/**
 * Codec of a Bitcoin network. Protocol bytes: `ff ‖ version ‖ hash160` of a legacy address, `version ‖ program` of a
 * segwit one. The native sentinel encodes as 20 zero bytes: it is no address, as its program has 19 bytes.
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/utils.ts; BIP 173, BIP 350
 */
export function createBitcoinCodec(network: BitcoinNetwork = bitcoinMainnet): VmCodec {
  return createVmCodec({
    vmType: 'bitcoin-vm',
    nativeCurrency: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
    nativeBytes: new Uint8Array(20),
    parseAddress(address) {
      if (address.length > bech32LengthMax) return { refusal: 'it is too long' }
      const isSegwit = address.toLowerCase().startsWith(`${network.bech32Prefix}1`)
      return isSegwit ? parseSegwit(address, network) : parseLegacy(address, network)
    },
    parseTransactionId: parseBareHash,
  })
}

const codecs = new Map(
  Object.values(bitcoinNetworks).map((network) => [network, createBitcoinCodec(network)]),
)

/** @throws ConfigurationError when no network has this name */
export function bitcoinCodecOf(name: string | undefined): VmCodec {
  const network = bitcoinNetworkOf(name)
  // Every named network is in the map; the default only satisfies the type.
  return codecs.get(network) ?? createBitcoinCodec(network)
}

function parseLegacy(address: string, network: BitcoinNetwork): ParsedAddress | Refusal {
  const payload = decodeBase58Check(address, 21)
  if (payload === undefined) return { refusal: 'prefix, length, characters or checksum are wrong' }
  const version = payload[0]
  if (version !== network.publicKeyHashVersion && version !== network.scriptHashVersion) {
    return { refusal: 'it belongs to another network' }
  }
  return { bytes: concatBytes([legacyDiscriminator, payload]), canonical: address }
}

function parseSegwit(address: string, network: BitcoinNetwork): ParsedAddress | Refusal {
  // Version 0 has the checksum constant of bech32 and every later one that of bech32m, so that no
  // string is valid under both.
  const decodedV0 = bech32.decodeUnsafe(address, bech32LengthMax)
  const decoded = decodedV0 ?? bech32m.decodeUnsafe(address, bech32LengthMax)
  if (decoded === undefined) return { refusal: 'characters or checksum are wrong' }
  const [version, ...programWords] = decoded.words
  const program = bech32.fromWordsUnsafe(programWords)
  if (version === undefined || program === undefined) return { refusal: 'its padding is wrong' }
  if (decoded.prefix !== network.bech32Prefix) return { refusal: 'it belongs to another network' }
  if (version > witnessVersionMax || (version === 0) !== (decodedV0 !== undefined)) {
    return { refusal: 'its witness version is wrong' }
  }
  const { length } = program
  const isKnownLength = version === 0 ? [20, 32].includes(length) : isLaterVersionLength(length)
  if (!isKnownLength) return { refusal: 'its witness program has a wrong length' }
  return {
    bytes: concatBytes([Uint8Array.of(version), program]),
    canonical: address.toLowerCase(),
    // Only version 0 and 32-byte version 1 programs have spending rules; others are anyone's money.
    isUnspendable: !(version === 0 || (version === 1 && program.length === 32)),
  }
}

function isLaterVersionLength(programLength: number): boolean {
  return programLength >= 2 && programLength <= 40
}
