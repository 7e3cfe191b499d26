import { encodeBase58, type Hex, hexToBytes, keccak256Hex, sha256TextHex } from '@causeway/core'
import { bitcoinNetworkOf, tronAddress, type VmType } from '@causeway/core/encodings'
import { scriptAddress } from '@causeway/families/rules'

/** Chains of a local network that are not EVM chains, one per VM family, in the order of their ports. */
export const familyKeys = ['solana', 'bitcoin', 'tron', 'hyperliquid', 'lighter'] as const
export type FamilyKey = (typeof familyKeys)[number]

/** Builds a record by calling `make` once per family, in their order. */
export function forEachFamily<Value>(make: (key: FamilyKey) => Value): Readonly<Record<FamilyKey, Value>> {
  return {
    solana: make('solana'),
    bitcoin: make('bitcoin'),
    tron: make('tron'),
    hyperliquid: make('hyperliquid'),
    lighter: make('lighter'),
  }
}

/** A family's chain as `npm run localnet -- families` describes it. */
export type FamilyPlan = {
  readonly vmType: VmType
  readonly name: string
  /** The parts that behave as on the real chain. */
  readonly real: string
  /** The parts that the stand-in imitates. */
  readonly standIn: string
  /** Symbol of the native currency, which deposits here are made in. */
  readonly symbol: string
  readonly decimals: number
  /** Amount of the deposit that is there from the first start on, in smallest units. */
  readonly firstAmount: bigint
}

export const familyPlans: Readonly<Record<FamilyKey, FamilyPlan>> = {
  solana: {
    vmType: 'solana-vm',
    name: 'Solana',
    real: 'programs on the Solana runtime (LiteSVM), both token programs, a depository program, signatures',
    standIn: 'JSON-RPC, blocks and their finality',
    symbol: 'SOL',
    decimals: 9,
    firstAmount: 2_500_000_000n,
  },
  bitcoin: {
    vmType: 'bitcoin-vm',
    name: 'Bitcoin',
    real: 'transactions, signatures, headers and merkle proofs of a regtest chain',
    standIn: 'RPC and Esplora API, mining',
    symbol: 'BTC',
    decimals: 8,
    firstAmount: 25_000_000n,
  },
  tron: {
    vmType: 'tron-vm',
    name: 'Tron',
    real: 'contracts, logs and transfers on the node of Base, bytes and signatures of transactions',
    standIn: 'HTTP API, solidified blocks, energy',
    symbol: 'TRX',
    decimals: 6,
    firstAmount: 25_000_000n,
  },
  hyperliquid: {
    vmType: 'hyperliquid-vm',
    name: 'Hyperliquid',
    real: 'signatures and nonces of transfers',
    standIn: 'the exchange: balances and transfers behind its HTTP API',
    symbol: 'USDC',
    decimals: 8,
    firstAmount: 2_500_000_000n,
  },
  lighter: {
    vmType: 'lighter-vm',
    name: 'Lighter',
    real: 'signatures of owners, nonces and ids of transfers',
    standIn: 'the exchange: balances and transfers behind its HTTP API',
    symbol: 'USDC',
    decimals: 6,
    firstAmount: 25_000_000n,
  },
}

export function isFamilyKey(value: string): value is FamilyKey {
  return familyKeys.some((key) => key === value)
}

/** 20 bytes that nobody has a key of. */
export function ownerlessAddress(label: string): Hex {
  return `0x${sha256TextHex(`causeway local network: ${label}`).slice(-40)}`
}

/** Address of the depository program. */
export const solanaDepository = encodeBase58(
  hexToBytes(sha256TextHex('causeway local network: solana depository')),
)

/** Program that makes and empties Solana's deposit addresses. */
export const solanaAddressProgram = encodeBase58(
  hexToBytes(sha256TextHex('causeway local network: solana deposit addresses')),
)

/** Vault of the depository program, which it derives from the seed `vault`. */
export const solanaVault = '6btHt9e9pxdoGxMy1AjZCGzqzZxgHm9sEmJGYegDXHZy'
/** Domain of withdrawal payloads for this network's depository program: another network's program refuses them. */
export const solanaDomain: Hex = `0x${'10ca1'.padStart(64, '0')}`

/** Network name in signed actions, and the spot tokens that withdrawals may pay. */
export const hyperliquidNetwork = {
  name: 'Mainnet',
  tokens: [{ token: '0x6d1e7cde53ba9467b783cb7c530ce054', decimals: 8 }],
} as const
/** Chain id of Lighter's test network. */
export const lighterChainId = 300n

/** P2WPKH script that pays to the hash of a key that does not exist. @source BIP 141 */
export function witnessScript(label: string): Uint8Array {
  return Uint8Array.of(0, 20, ...hexToBytes(ownerlessAddress(label)))
}

export const bitcoinDepositoryScript = witnessScript('bitcoin depository')

function bitcoinAddress(script: Uint8Array): string {
  const address = scriptAddress(script, bitcoinNetworkOf('regtest'))
  if (address === undefined) throw new Error('the script has no address')
  return address
}

/** The ASCII text TRON: public networks have other ids. */
export const tronChainId = 0x54_52_4f_4en

/** Depository of each chain. @param tronDepository the contract on the node behind Tron */
export function familyDepositories(tronDepository: Hex): Readonly<Record<FamilyKey, string>> {
  return {
    solana: solanaDepository,
    bitcoin: bitcoinAddress(bitcoinDepositoryScript),
    tron: tronAddress(tronDepository),
    hyperliquid: ownerlessAddress('hyperliquid depository'),
    lighter: '900001',
  }
}

/** Settings that only some chains have in `chains.local.json`. */
const settings: Readonly<Record<FamilyKey, object>> = {
  solana: { finality: { mode: 'tag', tag: 'finalized' } },
  bitcoin: {
    finality: { mode: 'depth', blocks: 2 },
    additionalData: {
      network: 'regtest',
      esploraCompatibleApiUrl: '$BITCOIN_ESPLORA_COMPATIBLE_API_URL',
    },
  },
  tron: { finality: { mode: 'tag', tag: 'finalized' } },
  hyperliquid: {},
  lighter: { additionalData: { network: 'testnet', explorerApiUrl: '$LIGHTER_EXPLORER_API_URL' } },
}

/** Entries of `chains.local.json`, in order. @param tron contracts on the node behind it */
export function familyChainEntries(tron: {
  readonly depository: Hex
  readonly fillContract: Hex
}): readonly object[] {
  const depositories = familyDepositories(tron.depository)
  return familyKeys.map((id) => ({
    id,
    vmType: familyPlans[id].vmType,
    httpRpcUrl: `$${id.toUpperCase()}_RPC_URL`,
    ...(id === 'solana' && { wsRpcUrl: '$SOLANA_WS_RPC_URL' }),
    depository: depositories[id],
    ...(id === 'tron' && { fillContracts: [tronAddress(tron.fillContract)] }),
    hubChainId: String(id === 'tron' ? tronChainId : BigInt(keccak256Hex(Buffer.from(id, 'utf8')))),
    ...settings[id],
  }))
}
