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

/** Address of a key, base58. @param key 32 bytes, as `0x` and hex digits */
export function walletOf(key: Secret): string {
  const address = tronLibrary().TronWeb.address.fromPrivateKey(key.reveal().slice(2))
  if (address === false) throw new Error('the key is none of the curve')
  return address
}

/** Members of a transaction beside its call. */
export type TransactionTerms = {
  /** A recent block: chains that have another block at its number refuse the transaction. */
  readonly block: { readonly number: bigint; readonly hash: Hex }
  /** Unix milliseconds. */
  readonly createdMs: number
  readonly expiresMs: number
  /** Sun (millionths of a TRX) that energy may burn at most. */
  readonly feeLimitSun: bigint
}

export type SignedTransaction = {
  /** Its bytes, as nodes accept them. */
  readonly raw: Hex
  /** Its id, without `0x`. */
  readonly hash: string
  /**
   * Bytes that the chain charges for, including the space of a result.
   * @source java-tron, Constant.MAX_RESULT_SIZE_IN_TX
   */
  readonly countedBytes: bigint
}

/** Space of a result, which the chain counts with a transaction's bytes. */
const resultBytes = 64n

/** Encodes and signs a call of a contract by the wallet, with tronweb. */
export function signCall(
  { contract, data, coin }: ContractCall,
  terms: TransactionTerms,
  { wallet, key }: { readonly wallet: string; readonly key: Secret },
): SignedTransaction {
  const { transaction, crypto } = tronLibrary().utils
  const { block, createdMs, expiresMs, feeLimitSun } = terms
  const type = 'TriggerSmartContract'
  const value = {
    owner_address: nodeAddress(wallet),
    contract_address: nodeAddress(contract),
    data: data.slice(2),
    ...(coin > 0n && { call_value: Number(coin) }),
  }
  const unsigned = transaction.txJsonToPb({
    raw_data: {
      contract: [{ type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }],
      // The last two bytes of the block's number, and the second eight bytes of its id.
      ref_block_bytes: block.number.toString(16).padStart(4, '0').slice(-4),
      ref_block_hash: block.hash.slice(18, 34),
      expiration: expiresMs,
      timestamp: createdMs,
      fee_limit: Number(feeLimitSun),
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
