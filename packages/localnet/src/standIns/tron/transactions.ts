import { createHash } from 'node:crypto'
import { exactNumber, type Hex } from '@causeway/core'
import { type Types, utils } from 'tronweb'
import { tronHex } from './account.ts'

/** Action of a transaction. Accounts are 20 bytes; `data` begins with `0x`; amounts are sun or units of the token. */
export type SubmittedContract =
  | { readonly kind: 'transfer'; readonly to: Hex; readonly amount: bigint }
  | { readonly kind: 'trigger'; readonly to: Hex; readonly data: Hex; readonly callValue?: bigint }
  /** A TRC-10 token: the same members as a transfer of TRX. */
  | { readonly kind: 'transferAsset'; readonly to: Hex; readonly amount: bigint }

export type EncodedTransaction = {
  /** Without `0x`, as is `rawHex`. */
  readonly transactionId: string
  readonly rawHex: string
}

/** Validity of a transaction: its reference block, its period and the most that it may cost. */
export type TransactionValidity = {
  /** Id of a recent block of the chain. */
  readonly blockId: string
  readonly createdMs: number
  readonly expiresMs: number
  readonly feeLimitSun: number
}

/** An unsigned call, as a node makes it for a client. */
export function unsignedCall(
  from: Hex,
  call: Extract<SubmittedContract, { kind: 'trigger' }>,
  { blockId, createdMs, expiresMs, feeLimitSun }: TransactionValidity,
): EncodedTransaction & { readonly rawData: object } {
  const rawData = {
    contract: [contractOf(from, call)],
    // An id begins with a number of eight bytes: its last two and the eight bytes behind it name the block.
    ref_block_bytes: blockId.slice(12, 16),
    ref_block_hash: blockId.slice(16, 32),
    expiration: expiresMs,
    timestamp: createdMs,
    fee_limit: feeLimitSun,
  }
  return { ...encode(rawData), rawData }
}

/** Reads a signed call by the protocol's classes. @throws Error for bytes that they refuse */
export function readSigned(signed: Uint8Array): SignedCall {
  const { Transaction, TriggerSmartContract } = protocolClasses()
  const transaction = Transaction.deserializeBinary(signed)
  const raw = transaction.getRawData()
  const rawBytes = raw.serializeBinary()
  const [contract] = raw.getContractList()
  if (contract === undefined) throw new Error('a transaction without a contract')
  const call = TriggerSmartContract.deserializeBinary(contract.getParameter().getValue_asU8())
  const [signature = new Uint8Array()] = transaction.getSignatureList_asU8()
  return {
    rawHex: Buffer.from(rawBytes).toString('hex'),
    transactionId: createHash('sha256').update(rawBytes).digest('hex'),
    signature: Buffer.from(signature).toString('hex'),
    owner: evmAddress(call.getOwnerAddress_asU8()),
    to: evmAddress(call.getContractAddress_asU8()),
    data: `0x${Buffer.from(call.getData_asU8()).toString('hex')}`,
    value: BigInt(call.getCallValue()),
    blockBytes: Buffer.from(raw.getRefBlockBytes_asU8()).toString('hex'),
    blockHash: Buffer.from(raw.getRefBlockHash_asU8()).toString('hex'),
    expiresMs: raw.getExpiration(),
    feeLimitSun: BigInt(raw.getFeeLimit()),
    byteLength: signed.length,
  }
}

/** The account whose key signed the id. */
export function signerOf({ transactionId, signature }: Pick<SignedCall, 'transactionId' | 'signature'>): Hex {
  // The result begins with the prefix 41.
  return `0x${utils.crypto.ecRecover(transactionId, signature).slice(2).toLowerCase()}`
}

/** Puts a transaction and its signature into the bytes that nodes take in hex. */
export function signedBytes(rawHex: string, signature: string): Uint8Array {
  const { Transaction } = protocolClasses()
  const transaction = new Transaction()
  transaction.setRawData(Transaction.raw.deserializeBinary(Buffer.from(rawHex, 'hex')))
  transaction.addSignature(Buffer.from(signature.replace(/^0x/, ''), 'hex'))
  return transaction.serializeBinary()
}

/** A signed call of a contract. Hashes and signature are without `0x`. */
export type SignedCall = EncodedTransaction & {
  readonly signature: string
  readonly owner: Hex
  readonly to: Hex
  readonly data: Hex
  /** In sun. */
  readonly value: bigint
  /** Last two bytes of the reference block's number, and eight bytes of its id. */
  readonly blockBytes: string
  readonly blockHash: string
  readonly expiresMs: number
  readonly feeLimitSun: bigint
  /** Length of the signed transaction; bandwidth is charged by it. */
  readonly byteLength: number
}

type Raw = {
  serializeBinary(): Uint8Array
  getContractList(): readonly { getParameter(): { getValue_asU8(): Uint8Array } }[]
  getRefBlockBytes_asU8(): Uint8Array
  getRefBlockHash_asU8(): Uint8Array
  getExpiration(): number
  getFeeLimit(): number
}

/** tronweb has these classes, and no types for them. */
type Protocol = {
  readonly Transaction: {
    new (): {
      setRawData(raw: Raw): void
      addSignature(bytes: Uint8Array): void
      serializeBinary(): Uint8Array
    }
    deserializeBinary(bytes: Uint8Array): {
      getRawData(): Raw
      getSignatureList_asU8(): readonly Uint8Array[]
    }
    readonly raw: { deserializeBinary(bytes: Uint8Array): Raw }
  }
  readonly TriggerSmartContract: {
    deserializeBinary(bytes: Uint8Array): {
      getOwnerAddress_asU8(): Uint8Array
      getContractAddress_asU8(): Uint8Array
      getData_asU8(): Uint8Array
      getCallValue(): number
    }
  }
}

function protocolClasses(): Protocol {
  // CAST: tronweb puts its classes there when it is loaded; the reader declares those that it uses.
  return Object(globalThis)['TronWebProto'] as Protocol
}

/** The EVM's form of an address, without the prefix byte of Tron. */
const evmAddress = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes.subarray(1)).toString('hex')}`

let lastTimeMs = 0

/** A time later than every one before, so that transactions with equal contents have different ids. */
function nextTimeMs(): number {
  lastTimeMs = Math.max(lastTimeMs + 1, Date.now())
  return lastTimeMs
}

/**
 * Bytes and id of a transaction by tronweb, whose encoder is independent of the reader under test.
 * @param createdMs Unix milliseconds; default: a new time for each
 */
export function encodeTransaction(
  from: Hex,
  contract: SubmittedContract,
  memo?: Hex,
  createdMs = nextTimeMs(),
): EncodedTransaction {
  return encode({
    contract: [contractOf(from, contract)],
    // No node checks this transaction, so it names any block.
    ref_block_bytes: '0001',
    ref_block_hash: '00'.repeat(8),
    expiration: createdMs + 60_000,
    timestamp: createdMs,
    ...(memo !== undefined && { data: memo.slice(2) }),
    ...(contract.kind === 'trigger' && { fee_limit: 100_000_000 }),
  })
}

function encode(rawData: object): EncodedTransaction {
  const encoded = utils.transaction.txJsonToPb({ raw_data: rawData })
  return {
    transactionId: utils.transaction.txPbToTxID(encoded).slice(2).toLowerCase(),
    rawHex: utils.transaction.txPbToRawDataHex(encoded).toLowerCase(),
  }
}

function contractOf(from: Hex, contract: SubmittedContract) {
  const owner_address = tronHex(from)
  switch (contract.kind) {
    case 'transfer':
      return wrapContract('TransferContract', {
        owner_address,
        to_address: tronHex(contract.to),
        amount: exactNumber(contract.amount),
      })
    case 'transferAsset':
      return wrapContract('TransferAssetContract', {
        owner_address,
        to_address: tronHex(contract.to),
        amount: exactNumber(contract.amount),
        // The text `1000001`, a token's id.
        asset_name: '31303030303031',
      })
    case 'trigger':
      return wrapContract('TriggerSmartContract', {
        owner_address,
        contract_address: tronHex(contract.to),
        data: contract.data.slice(2),
        ...(contract.callValue !== undefined && { call_value: exactNumber(contract.callValue) }),
      })
  }
}

function wrapContract(type: `${Types.ContractType}`, value: object) {
  return { type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }
}
