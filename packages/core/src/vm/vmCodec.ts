import type { VmType } from './vmType.ts'

/**
 * The pure part of one VM family: how its addresses, currencies and transaction ids are written
 * and encoded. One implementation per family under `core/vm/<family>`, one line in `codecOf`.
 *
 * Every function is total over strings: it returns or throws `InvalidAddressError` or
 * `InvalidTransactionIdError`, never anything else.
 * @source oracle-protocol.md 1.1, 1.2, 1.3 (canonical forms)
 */
export interface VmCodec {
  readonly vmType: VmType
  /** The string that names the chain's native currency in requests and orders. */
  readonly nativeCurrency: string
  /** True for a string that `encodeAddress` accepts as an account that can receive funds. */
  isAddress(address: string): boolean
  /**
   * Protocol bytes of an account address. The native currency sentinel encodes too.
   * @throws InvalidAddressError
   */
  encodeAddress(address: string): Uint8Array
  /**
   * Protocol bytes of a currency (token address, mint, asset index, spot token or the native sentinel).
   * @throws InvalidAddressError
   */
  encodeCurrency(currency: string): Uint8Array
  /** Protocol bytes of a currency that has a token on the hub. @throws InvalidAddressError for any other */
  encodeHubCurrency(currency: string): Uint8Array
  /**
   * The one spelling under which two equal addresses compare equal: lower case for hex families,
   * unchanged for case-sensitive ones. @throws InvalidAddressError
   */
  canonicalAddress(address: string): string
  /** `canonicalAddress` where there is one, else the text itself. Never throws. */
  spellAddress(text: string): string
  /**
   * The one spelling of a transaction id that enters hashes and is echoed.
   * @throws InvalidTransactionIdError
   */
  canonicalTransactionId(transactionId: string): string
  /** Protocol bytes of a transaction id. @throws InvalidTransactionIdError */
  encodeTransactionId(transactionId: string): Uint8Array
}
