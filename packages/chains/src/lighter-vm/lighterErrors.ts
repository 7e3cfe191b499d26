import { DomainError } from '@causeway/core'

/** A withdrawal that pays from an account which is no depository of the chain. */
export class PayingAccountError extends DomainError {
  readonly code = 'DEPOSITORY_NOT_CONFIGURED'
  readonly kind = 'invalid_request'

  constructor(account: string, chainId: string) {
    super(`Depository ${account} is not configured for chain ${chainId}.`, { data: { account, chainId } })
  }
}

/** An account that nobody can sign for. */
export class OwnerAccountError extends DomainError {
  readonly code: 'OWNER_ACCOUNT_NOT_FOUND' | 'OWNER_ACCOUNT_WITHOUT_KEY'
  readonly kind = 'invalid_request'

  constructor(code: OwnerAccountError['code'], account: string, chainId: string) {
    const problem = { OWNER_ACCOUNT_NOT_FOUND: 'not found', OWNER_ACCOUNT_WITHOUT_KEY: 'without a key' }[code]
    super(`Account ${account} on chain ${chainId}: ${problem}.`, { data: { account, chainId } })
    this.code = code
  }
}
