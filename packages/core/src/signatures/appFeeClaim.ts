import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { hashText, typedDataDigest, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'

/** What a wallet agrees to when it claims app fees. Addresses are lower case. */
export type AppFeeClaimTerms = {
  /** Address of the service that pays: a signature is of no use at another one. */
  readonly service: string
  readonly chainId: number
  readonly wallet: Hex
  readonly recipient: Hex
  /** EVM address of the currency; the zero address is the native coin. */
  readonly currency: Hex
  /** Smallest units. */
  readonly amount: bigint
  /** The same for a person, e.g. `1.5 USDC`. */
  readonly pays: string
  /** Random, so that equal claims differ. */
  readonly nonce: Hex
}

/** EIP-712 data as wallets are given it. `EIP712Domain` is not listed: signers derive it. */
export type AppFeeClaimTypedData = {
  readonly domain: { readonly name: string; readonly version: string; readonly chainId: number }
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: 'AppFeeClaim'
  readonly value: Readonly<Record<string, string>>
}

const domainName = 'Causeway app fees'
const domainVersion = '1'
const members = [
  ['service', 'string'],
  ['wallet', 'address'],
  ['recipient', 'address'],
  ['pays', 'string'],
  ['currency', 'address'],
  ['amount', 'uint256'],
  ['nonce', 'bytes32'],
] as const

/** What the wallet shows and signs: who is paid how much, and by which service. */
export function appFeeClaimTypedData(terms: AppFeeClaimTerms): AppFeeClaimTypedData {
  const { service, chainId, wallet, recipient, pays, currency, amount, nonce } = terms
  return {
    domain: { name: domainName, version: domainVersion, chainId },
    types: { AppFeeClaim: members.map(([name, type]) => ({ name, type })) },
    primaryType: 'AppFeeClaim',
    value: { service, wallet, recipient, pays, currency, amount: amount.toString(), nonce },
  }
}

const domainTypeHash = typeHash('EIP712Domain(string name,string version,uint256 chainId)')
const claimTypeHash = typeHash(`AppFeeClaim(${members.map(([name, type]) => `${type} ${name}`).join(',')})`)

/** The 32 bytes that a signature of `appFeeClaimTypedData` signs. @throws RangeError on a member that does not fit */
export function appFeeClaimDigest(terms: AppFeeClaimTerms): Uint8Array {
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
