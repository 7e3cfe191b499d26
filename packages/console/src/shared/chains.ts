import { type Answer, listOf, memberOf, textOf } from './answers.ts'

/** Chains as the service names them, and where their explorers are. */
export type Chains = {
  nameOf(chainId: string): string
  /** The explorer's page of a transaction; undefined without one, and for what is no address of the web. */
  transactionAt(chainId: string, hash: string): string | undefined
}

/** @param answer of GET /chains or GET /admin/health */
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
