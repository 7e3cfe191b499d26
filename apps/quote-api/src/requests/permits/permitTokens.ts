import { DomainError } from '@causeway/core'
import type { SignedDeposits } from '@causeway/families'
import type { TokenDomain } from '@causeway/families/rules'
import { QuoteError } from '../../pricing/errors.ts'
import type { PermitToken, PermitTokens } from '../../pricing/routes/permit.ts'

/** Time for which a domain is cached; a token behind a proxy may change its name. */
const domainMaxAgeMs = 600_000

/**
 * Reads what a permit's typed data needs of its token: the EIP-712 domain, cached for ten minutes, and the owner's nonce,
 * read for every quote. Both are read by quorum.
 */
export function createPermitTokens(options: {
  depositsOf: (chainId: number) => Pick<SignedDeposits, 'domainOf' | 'nonceOf'> | undefined
  now: () => number
}): PermitTokens {
  const { now } = options
  const domains = new Map<string, { readonly domain: Promise<TokenDomain>; readonly readAtMs: number }>()
  const depositsOf = ({ chainId }: PermitToken) => {
    const deposits = options.depositsOf(chainId)
    if (deposits === undefined) throw unavailable()
    return deposits
  }
  return {
    async domainOf(token) {
      const cached = domains.get(token.key)
      if (cached !== undefined && now() - cached.readAtMs < domainMaxAgeMs) return cached.domain
      const domain = readDomain(depositsOf(token), token)
      domains.set(token.key, { domain, readAtMs: now() })
      // A failed reading is not cached, so the next caller tries again.
      domain.catch(() => domains.delete(token.key))
      return domain
    },
    async nonceOf(token, owner) {
      const deposits = depositsOf(token)
      return unlessDown(() => deposits.nonceOf(token.address, owner))
    },
  }
}

async function readDomain(
  deposits: Pick<SignedDeposits, 'domainOf'>,
  token: PermitToken,
): Promise<TokenDomain> {
  const domain = await unlessDown(() => deposits.domainOf(token.address))
  if (domain === undefined) throw unsignable(token)
  return domain
}

/** Turns every failure to read the chain into the same refusal of the quote. */
async function unlessDown<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof DomainError && !(error instanceof QuoteError) ? unavailable(error) : error
  }
}

function unavailable(cause?: unknown): QuoteError {
  return new QuoteError('SERVICE_UNAVAILABLE', 'The token cannot be asked what its owners sign.', { cause })
}

function unsignable({ symbol, address }: PermitToken): QuoteError {
  return new QuoteError('UNSUPPORTED_CURRENCY', `What owners of ${symbol} sign cannot be told for sure.`, {
    data: { field: 'usePermit', currency: address },
  })
}
