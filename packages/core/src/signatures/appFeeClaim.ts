import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { hashText, typedDataDigest, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'

/** A claim of app fees that its wallet signs, so that the service pays them out. Addresses are canonical. */
export type AppFeeClaimTerms = {
  /** Address of the service that pays, so that no other service accepts the signature. */
  readonly service: string
  readonly chainId: number
  readonly wallet: Hex
  readonly recipient: string
  /** Currency; on an EVM chain the zero address is the native coin. */
  readonly currency: string
  /** Smallest units. */
  readonly amount: bigint
  /** Text of the amount that is paid out after costs, for a person to read, e.g. `1.5 USDC`. */
  readonly pays: string
  /** Random, so that equal claims differ. */
  readonly nonce: Hex
}

/** EIP-712 data for a wallet to sign. `EIP712Domain` is not listed: signers derive it. */
export type AppFeeClaimTypedData = {
  /**
   * `chainId` is absent with `textMembers`, on chains that are no EVM ones: a wallet refuses to sign for a
   * chain that it is not on.
   */
  readonly domain: { readonly name: string; readonly version: string; readonly chainId?: number }
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: 'AppFeeClaim'
  readonly value: Readonly<Record<string, string>>
}

type Member = readonly [name: string, type: 'string' | 'address' | 'uint256' | 'bytes32']

const domainName = 'Causeway app fees'
const domainVersion = '1'
const members: readonly Member[] = [
  ['service', 'string'],
  ['wallet', 'address'],
  ['recipient', 'address'],
  ['pays', 'string'],
  ['currency', 'address'],
  ['amount', 'uint256'],
  ['nonce', 'bytes32'],
]
/** For accounts or currencies that are not 20 bytes: they are signed as text, and `chainId` is a member. */
const textMembers: readonly Member[] = [
  ['service', 'string'],
  ['wallet', 'address'],
  ['chainId', 'uint256'],
  ['recipient', 'string'],
  ['pays', 'string'],
  ['currency', 'string'],
  ['amount', 'uint256'],
  ['nonce', 'bytes32'],
]

const bytes20 = /^0x[0-9a-f]{40}$/
/** Terms with recipient and currency of 20 bytes, which are signed as addresses. */
type TermsInBytes = AppFeeClaimTerms & { readonly recipient: Hex; readonly currency: Hex }
const isInBytes = (terms: AppFeeClaimTerms): terms is TermsInBytes =>
  bytes20.test(terms.recipient) && bytes20.test(terms.currency)

/** Typed data that the wallet shows and signs: recipient, amount, chain, and paying service. */
export function appFeeClaimTypedData(terms: AppFeeClaimTerms): AppFeeClaimTypedData {
  const { service, chainId, wallet, recipient, pays, currency, amount, nonce } = terms
  const inBytes = isInBytes(terms)
  return {
    domain: { name: domainName, version: domainVersion, ...(inBytes && { chainId }) },
    types: { AppFeeClaim: (inBytes ? members : textMembers).map(([name, type]) => ({ name, type })) },
    primaryType: 'AppFeeClaim',
    value: {
      service,
      wallet,
      ...(!inBytes && { chainId: chainId.toString() }),
      recipient,
      pays,
      currency,
      amount: amount.toString(),
      nonce,
    },
  }
}

const typeHashOf = (list: readonly Member[]) =>
  typeHash(`AppFeeClaim(${list.map(([name, type]) => `${type} ${name}`).join(',')})`)
const [claimTypeHash, textClaimTypeHash] = [typeHashOf(members), typeHashOf(textMembers)]
const domainTypeHash = typeHash('EIP712Domain(string name,string version,uint256 chainId)')
const chainlessDomainTypeHash = typeHash('EIP712Domain(string name,string version)')

/** The 32 bytes that a signature of `appFeeClaimTypedData` signs. @throws RangeError on a member that does not fit */
export function appFeeClaimDigest(terms: AppFeeClaimTerms): Uint8Array {
  return isInBytes(terms) ? bytesClaimDigest(terms) : textClaimDigest(terms)
}

function bytesClaimDigest(terms: TermsInBytes): Uint8Array {
  const separator = new AbiWords(4)
    .word(domainTypeHash)
    .word(hashText(domainName))
    .word(hashText(domainVersion))
    .number(terms.chainId)
  const claim = new AbiWords(8)
    .word(claimTypeHash)
    .word(hashText(terms.service))
    .address(fixedHexToBytes(terms.wallet, 20))
    .address(fixedHexToBytes(terms.recipient, 20))
    .word(hashText(terms.pays))
    .address(fixedHexToBytes(terms.currency, 20))
    .uint(terms.amount)
    .word(fixedHexToBytes(terms.nonce, 32))
  return typedDataDigest(keccak256(separator.done()), keccak256(claim.done()))
}

function textClaimDigest(terms: AppFeeClaimTerms): Uint8Array {
  const separator = new AbiWords(3)
    .word(chainlessDomainTypeHash)
    .word(hashText(domainName))
    .word(hashText(domainVersion))
  const claim = new AbiWords(9)
    .word(textClaimTypeHash)
    .word(hashText(terms.service))
    .address(fixedHexToBytes(terms.wallet, 20))
    .number(terms.chainId)
    .word(hashText(terms.recipient))
    .word(hashText(terms.pays))
    .word(hashText(terms.currency))
    .uint(terms.amount)
    .word(fixedHexToBytes(terms.nonce, 32))
  return typedDataDigest(keccak256(separator.done()), keccak256(claim.done()))
}
