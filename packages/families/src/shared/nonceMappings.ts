import type { Hex, NonceMapping, nonceMappingTypedData } from '@causeway/core'

/** What the hub says of one nonce. */
export type NonceEntry = { readonly id: Hex; readonly depositor: Hex }

/** What a wallet says of a nonce of its own. */
export type NonceSaying = Omit<NonceMapping, 'walletChainId'>

/** What the wallet signs to say it. */
export type SayingTypedData = ReturnType<typeof nonceMappingTypedData> & {
  readonly message: NonceSaying & { readonly chainId: string }
}

/**
 * What fill wallets of one chain say of their own nonces on the hub, where transfers name no order. The first word about a
 * nonce stands for ever, so whoever forgets can read it again.
 */
export interface NonceMappings {
  /** @returns undefined where nothing is said. @throws DomainError where endpoints of the hub are silent or disagree */
  read(of: Pick<NonceSaying, 'wallet' | 'nonce'>, signal: AbortSignal): Promise<NonceEntry | undefined>
  /**
   * Resolves once the hub has it; repeating it changes nothing.
   * @throws MappingTakenError where something else was said before; UpstreamUnavailableError
   */
  write(saying: NonceSaying, sign: (data: SayingTypedData) => Promise<Hex>): Promise<void>
}
