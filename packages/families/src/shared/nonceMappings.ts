import type { Hex, NonceMapping, nonceMappingTypedData } from '@causeway/core'

/** Purpose of the transfer with one nonce, as the hub's entry states it: an order's id and its depositor. */
export type NonceEntry = { readonly id: Hex; readonly depositor: Hex }

/** A wallet's statement about one of its own nonces. */
export type NonceStatement = Omit<NonceMapping, 'walletChainId'>

/** Typed data of the statement, which the wallet signs. */
export type StatementTypedData = ReturnType<typeof nonceMappingTypedData> & {
  readonly message: NonceStatement & { readonly chainId: string }
}

/**
 * Statements of one chain's fill wallets on the hub: which order the transfer with a nonce of theirs is for. Needed on
 * chains whose transfers name no order. The first statement about a nonce is permanent, so a service that lost its
 * database can read it again.
 */
export interface NonceMappings {
  /** @returns undefined without a statement. @throws DomainError if endpoints of the hub are silent or disagree */
  read(key: Pick<NonceStatement, 'wallet' | 'nonce'>, signal: AbortSignal): Promise<NonceEntry | undefined>
  /**
   * Resolves once the hub has the statement; repeating it changes nothing.
   * @throws MappingTakenError if there is another statement about the nonce; UpstreamUnavailableError
   */
  write(statement: NonceStatement, sign: (data: StatementTypedData) => Promise<Hex>): Promise<void>
}
