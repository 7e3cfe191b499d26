import { type Answer, listOf, memberOf, textOf } from './answers.ts'

/** Names and explorers of chains, from an answer of the service. */
export type Chains = {
  /** Display name; the id itself for an unknown chain. */
  nameOf(chainId: string): string
  /** URL of a transaction in the chain's explorer; undefined without an explorer, or if URL or hash look unsafe. */
  transactionAt(chainId: string, hash: string): string | undefined
}

/** @param answer of GET /chains or GET /admin/health; `{}` before there is one */
export function chainsOf(answer: Answer): Chains {
  const byId = new Map(listOf(answer, 'chains').map((chain) => [textOf(chain, 'id'), chain]))
  return {
    nameOf: (chainId) => textOf(byId.get(chainId) ?? {}, 'displayName') || chainId,
    transactionAt(chainId, hash) {
      const chain = byId.get(chainId) ?? {}
      const explorer = textOf(chain, 'explorerUrl').replace(/\/+$/, '')
      if (!/^https?:\/\//.test(explorer) || !/^\w{20,128}$/.test(hash)) return undefined
      const path = textOf(memberOf(chain, 'explorerPaths'), 'transaction')
      return `${explorer}${path.replace('{TX_HASH}', hash)}`
    },
  }
}
