import type {
  Execution,
  ExecutionDomain,
  Hex,
  MappingDomain,
  MappingEntry,
  PayloadSigning,
  SigningRequest,
  WithdrawRequest,
  WithdrawRequestDomain,
} from '@causeway/core'
import {
  AbiWords,
  assertNever,
  domainSeparator,
  fixedHexToBytes,
  hashArray,
  hashText,
  hexToBytes,
  keccak256,
  noFillOrRefundDigest,
  personalMessageDigest,
  timelineDigest,
  typedDataDigest,
  typeHash,
} from '@causeway/core'
import { payloadHashes } from './allocatorPayload.ts'

const executionTypeHash = typeHash('Execution(bytes32 idempotencyKey,bytes[] actions)')
const withdrawRequestTypeHash = typeHash(
  'SubmitWithdrawRequest(uint256 chainId,string depository,string currency,uint256 amount,address spender,string receiver,bytes data,bytes32 nonce)',
)

const mappingEntryTypeHash = typeHash('SetEntry(address user,bytes32 id,bytes data,bytes32 nonce)')

/**
 * The 32 bytes that a signature of `request` signs.
 * @throws RangeError when a member does not fit its type: a caller's bug
 * @source rule P-128
 */
export function signingDigest(request: SigningRequest): Uint8Array {
  switch (request.purpose) {
    case 'order':
      return personalMessageDigest(fixedHexToBytes(request.orderId, 32))
    case 'message':
      return personalMessageDigest(fixedHexToBytes(request.messageId, 32))
    case 'execution':
      return typedDataDigest(executionSeparator(request.domain), executionHash(request.execution))
    case 'withdraw-request':
      return typedDataDigest(withdrawRequestSeparator(request.domain), withdrawRequestHash(request.request))
    case 'mapping-entry':
      return typedDataDigest(mappingSeparator(request.domain), mappingEntryHash(request.entry))
    case 'no-fill-or-refund':
      return noFillOrRefundDigest(request.promise, request.chainId)
    case 'transaction':
      return transactionDigest(request.unsigned)
    case 'payload':
      return payloadDigest(request)
    case 'timeline':
      return timelineDigest(request.statement)
    default:
      return assertNever(request)
  }
}

/** EIP-1559, and EIP-7702, which is the same with a list of authorizations. @source EIP-2718 */
const transactionTypes: readonly number[] = [2, 4]

/**
 * Nothing else that is signed here begins with the type of such a transaction and a list: no digest is both.
 * An authorization, which hands a whole account over, begins with 5.
 */
function transactionDigest(unsigned: Hex): Uint8Array {
  const bytes = hexToBytes(unsigned)
  const [type = 0, listHead = 0] = bytes
  if (!transactionTypes.includes(type) || listHead < 0xc0)
    throw new RangeError('only EIP-1559 and EIP-7702 transactions are signed')
  return keccak256(bytes)
}

/** The hash is made here from the payload's bytes: a signer is never handed one. */
function payloadDigest({ vmType, payload, place, index }: PayloadSigning): Uint8Array {
  const hash = payloadHashes(vmType, payload, place)[index]
  if (hash === undefined) throw new RangeError('the payload has no such part')
  return fixedHexToBytes(hash, 32)
}

/** Domain separator of the hub's oracle contract. */
export function executionSeparator(domain: ExecutionDomain): Uint8Array {
  return domainSeparator({ ...domain, name: 'RelayOracle' })
}

/** Struct hash of `Execution`, without its domain. */
export function executionHash({ idempotencyKey, actions }: Execution): Uint8Array {
  const words = new AbiWords(3)
    .word(executionTypeHash)
    .word(fixedHexToBytes(idempotencyKey, 32))
    .word(hashArray(actions.map((action) => keccak256(hexToBytes(action)))))
  return keccak256(words.done())
}

function withdrawRequestSeparator(domain: WithdrawRequestDomain): Uint8Array {
  return domainSeparator({ ...domain, name: 'RelayAllocatorSpender', version: '1' })
}

/** The typed member `receiver` carries the request's `recipient`. */
function withdrawRequestHash(request: WithdrawRequest): Uint8Array {
  const words = new AbiWords(9)
    .word(withdrawRequestTypeHash)
    .uint(request.chainId)
    .word(hashText(request.depository))
    .word(hashText(request.currency))
    .uint(request.amount)
    .address(fixedHexToBytes(request.spender, 20))
    .word(hashText(request.recipient))
    .word(keccak256(hexToBytes(request.data)))
    .word(fixedHexToBytes(request.nonce, 32))
  return keccak256(words.done())
}

function mappingSeparator(domain: MappingDomain): Uint8Array {
  return domainSeparator({ ...domain, name: 'RelayGenericMapping', version: '1' })
}

function mappingEntryHash({ user, id, data, nonce }: MappingEntry): Uint8Array {
  const words = new AbiWords(5)
    .word(mappingEntryTypeHash)
    .address(fixedHexToBytes(user, 20))
    .word(fixedHexToBytes(id, 32))
    .word(keccak256(hexToBytes(data)))
    .word(fixedHexToBytes(nonce, 32))
  return keccak256(words.done())
}
