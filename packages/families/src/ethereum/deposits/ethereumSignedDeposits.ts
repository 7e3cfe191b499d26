import type { SignedDepositsFamily } from '../../shared/signedDeposits.ts'
import { readDomain, readNonce } from './tokenDomain.ts'
import { tryCalls } from './tryCalls.ts'
import { tryPermit } from './tryPermit.ts'

/** Deposits that users sign and quote-api submits: by permits of tokens, and by signed calls of smart accounts. */
export const ethereumSignedDeposits: SignedDepositsFamily = ({ client, chainId, multicall3 }) => ({
  domainOf: (token) => readDomain(client, chainId, token),
  nonceOf: (token, owner) => readNonce(client, token, owner),
  tryPermit: (terms, signature) => tryPermit({ client, chainId, multicall3 }, terms, signature),
  tryCalls: (calls) => tryCalls(client, { ...calls, multicall3 }),
  async countTransactions(account) {
    const count = await client.request({ method: 'eth_getTransactionCount', params: [account, 'latest'] })
    return typeof count === 'string' ? Number(count) : undefined
  },
})
