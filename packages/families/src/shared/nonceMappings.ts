import type { Hex, NonceMapping, nonceMappingTypedData } from '@causeway/core'

/** The hub's entry for one nonce. */
export type NonceEntry = { readonly id: Hex; readonly depositor: Hex }

/** A wallet's statement about one of its own nonces. */
export type NonceStatement = Omit<NonceMapping, 'walletChainId'>

/** Typed data of the statement, which the wallet signs. */
export type StatementTypedData = ReturnType<typeof nonceMappingTypedData> & {
  readonly message: NonceStatement & { readonly chainId: string }
}

/**
 * Statements on the hub of one chain's fill wallets about their own nonces, for chains whose transfers name no order.
 * The first statement about a nonce is permanent, so a service that lost its memory can read it again.
 */
export interface NonceMappings {
  /** @returns undefined where nothing is said. @throws DomainError where endpoints of the hub are silent or disagree */
  read(of: Pick<NonceStatement, 'wallet' | 'nonce'>, signal: AbortSignal): Promise<NonceEntry | undefined>
  /**
   * Resolves once the hub has it; repeating it changes nothing.
   * @throws MappingTakenError where something else was said before; UpstreamUnavailableError
   */
  write(statement: NonceStatement, sign: (data: StatementTypedData) => Promise<Hex>): Promise<void>
}
