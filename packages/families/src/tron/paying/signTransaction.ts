import { createRequire } from 'node:module'
import { bytesToHex, type Hex, hexToBytes, type Secret } from '@causeway/core'
import type * as TronWeb from 'tronweb'
import type { ContractCall } from '../rules/paying/fillCalls.ts'
import { nodeAddress } from '../rules/quoting/tronQuoting.ts'

let loaded: typeof TronWeb | undefined

/** tronweb, loaded when a wallet is opened. See decision 19. */
function tronLibrary(): typeof TronWeb {
  if (loaded !== undefined) return loaded
  const library: typeof TronWeb = createRequire(import.meta.url)('tronweb')
  loaded = library
  return library
}

/** Base58. @param key 32 bytes, as `0x` and hex digits */
export function walletOf(key: Secret): string {
  const address = tronLibrary().TronWeb.address.fromPrivateKey(key.reveal().slice(2))
  if (address === false) throw new Error('the key is none of the curve')
  return address
}

/** Members of a transaction beside its call. */
export type TransactionTerms = {
  /** A recent block: the transaction is of no chain that has another one there. */
  readonly block: { readonly number: bigint; readonly hash: Hex }
  /** Unix milliseconds. */
  readonly createdMs: number
  readonly expiresMs: number
  /** The most that energy may burn, sun. */
  readonly feeLimitSun: bigint
}

export type SignedTransaction = {
  /** As nodes take it. */
  readonly raw: Hex
  /** Without `0x`. */
  readonly hash: string
  /** Bytes that the chain charges for, including the space of a result. @source families.md 5.3 */
  readonly countedBytes: bigint
}

const resultBytes = 64n

/** A call of a contract by the wallet, as tronweb encodes and signs it. */
export function signCall(
  { contract, data, coin }: ContractCall,
  terms: TransactionTerms,
  { wallet, key }: { readonly wallet: string; readonly key: Secret },
): SignedTransaction {
  const { transaction, crypto } = tronLibrary().utils
  const { block, createdMs, expiresMs, feeLimitSun } = terms
  const type = 'TriggerSmartContract'
  const value = {
    ...{ owner_address: nodeAddress(wallet), contract_address: nodeAddress(contract), data: data.slice(2) },
    ...(coin > 0n && { call_value: Number(coin) }),
  }
  const unsigned = transaction.txJsonToPb({
    raw_data: {
      contract: [{ type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }],
      ref_block_bytes: block.number.toString(16).padStart(4, '0').slice(-4),
      ref_block_hash: block.hash.slice(18, 34),
      ...{ expiration: expiresMs, timestamp: createdMs, fee_limit: Number(feeLimitSun) },
    },
  })
  const id = transaction.txPbToTxID(unsigned).slice(2).toLowerCase()
  const signature = crypto.ECKeySign(
    [...hexToBytes(`0x${id}`)],
    [...hexToBytes(`0x${key.reveal().slice(2)}`)],
  )
  unsigned.addSignature(hexToBytes(`0x${signature.replace(/^0x/, '').toLowerCase()}`))
  const bytes: Uint8Array = unsigned.serializeBinary()
  return { raw: bytesToHex(bytes), hash: id, countedBytes: BigInt(bytes.length) + resultBytes }
}
