import type { Hex } from '@causeway/core'

/** Derivation and terms of a chain's deposit addresses. Pure. */
export type DepositAddressing = {
  /**
   * A deposit address that only these parties can empty. `fillWallet` and `depositor` are canonical, `nonce` is 32
   * bytes.
   * @throws InvalidAddressError for a depositor who could not withdraw from it
   */
  make(parties: {
    readonly orderSigner: Hex
    readonly fillWallet: string
    readonly depositor: string
    readonly nonce: Hex
  }): DepositAddress
  /** 20 bytes that identify an address in the salt of the orders that it may pay. */
  nameOf(address: string): Hex
  /** Seconds that a sweep may take after the solver is asked for it. */
  readonly sweepSeconds: number
  /** Seconds before an order's deadline after which it is not paid any more, since sweep and fill need time. */
  readonly leadSeconds: number
  /** True if only the solver can move the money until the sweep, so that the quote's price holds until then. */
  readonly isKeptWhileSwept: boolean
  /** True if a sweep's deposit is credited to the depositor of the terms; false: to the fill wallet. */
  readonly creditsDepositor: boolean
}

/** An address that is paid instead of the depository. */
export type DepositAddress = {
  /** Canonical. */
  readonly address: string
  readonly terms: DepositAddressTerms
  /** Script that spends from it, on Bitcoin, where the depositor needs it to withdraw. */
  readonly script?: Hex
}

/** Terms from which a deposit address is derived; another value of any member gives another address. */
export type DepositAddressTerms<Account extends string = string> = {
  /** Signs the orders that the address may pay. */
  readonly orderSigner: Hex
  /** The solver's account, or key, that empties the address. */
  readonly sweeper: Account
  /** Account that may withdraw the address's money; in families with contracts its deposits are credited to it too. */
  readonly depositor: Account
  /** 32 random bytes. */
  readonly nonce: Hex
}

/** The contract that empties deposit addresses, and the hash of the code that it creates at one for the sweep. */
export type DepositAddressContract = { readonly contract: Hex; readonly sweepCodeHash: Hex }
