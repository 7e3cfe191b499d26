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
 * The 32-byte digest that is signed for a signing request, by its purpose. Names of domains and types are
 * those of deployed contracts. Digests of two purposes never collide: typed data differ by domain or type;
 * `order` and `message` have one form, and their ids are hashes of different structs.
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

/** Types of EIP-1559 and EIP-7702 transactions; the latter has a list of authorizations as well. @source EIP-2718 */
const transactionTypes: readonly number[] = [2, 4]

/**
 * Requires the type and the head of an RLP list: nothing else that is signed here begins so, hence no signature can
 * serve as another one's. An EIP-7702 authorization, which would hand over the whole account, begins with 5 and is
 * refused.
 */
function transactionDigest(unsigned: Hex): Uint8Array {
  const bytes = hexToBytes(unsigned)
  const [type = 0, listHead = 0] = bytes
  if (!transactionTypes.includes(type) || listHead < 0xc0)
    throw new RangeError('only EIP-1559 and EIP-7702 transactions are signed')
  return keccak256(bytes)
}

/** Hashes the payload's bytes here, so that a signer never signs a hash that somebody else computed. */
function payloadDigest({ vmType, payload, payer, index }: PayloadSigning): Uint8Array {
  const hash = payloadHashes(vmType, payload, payer)[index]
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
