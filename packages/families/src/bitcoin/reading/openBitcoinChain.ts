import { ConfigurationError } from '@causeway/core'
import type { bitcoinNetworks } from '@causeway/core/encodings'
import { askEnough, verifyLocalEndpoints } from '@causeway/rpc'
import type { OpenFamilyChain } from '../../shared/familyChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { createBitcoindView } from './bitcoindView.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { missingCredentials } from './esploraAccess.ts'
import { createEsploraView } from './esploraView.ts'
import { createBitcoinFactsReader } from './factsReader.ts'
import { esploraUrls, openQuorums } from './openQuorums.ts'
import { createSpenderLookup, noSpenderLookup } from './spenderLookup.ts'

/**
 * Hashes of the first block of each network, by which `verify` recognises an endpoint's network.
 * @source Bitcoin Core, `src/kernel/chainparams.cpp`
 */
export const firstBlocks: Readonly<Record<keyof typeof bitcoinNetworks, readonly string[]>> = {
  mainnet: ['000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'],
  // The third and the fourth test network, which share their addresses.
  testnet: [
    '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
    '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
  ],
  signet: ['00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6'],
  regtest: ['0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'],
}

/**
 * Missing settings: a URL, if there is neither a node (`ready`) nor an Esplora-compatible API, and the
 * credentials of such an API.
 */
export function missingBitcoinSettings(chain: RegisteredChain): readonly string[] {
  const urls = esploraUrls(chain)
  if (!chain.ready && urls.length === 0) return ['httpRpcUrl', 'additionalData.esploraCompatibleApiUrl']
  const missing = urls.flatMap((url) => missingCredentials(url, chain.additionalData))
  return [...new Set(missing)].map((name) => `additionalData.${name}`)
}

/**
 * Opens a `bitcoin-vm` chain for the services that read facts. Nodes of `httpRpcUrl` are the quorum, and an
 * Esplora-compatible API only names the spender of an output; without nodes such APIs are the quorum themselves.
 * @throws ConfigurationError for endpoints that are no URLs, depositories of another network, other finality
 */
export const openBitcoinChain: OpenFamilyChain = (chain, limits) => {
  const { nodes, api } = openQuorums(chain, { node: createBitcoindView, api: createEsploraView })
  const quorum = nodes ?? api
  if (quorum === undefined) throw new ConfigurationError(`chain ${chain.id} has no endpoint`)
  const findSpenders = nodes === undefined || api === undefined ? noSpenderLookup : createSpenderLookup(api)
  const opened = [nodes, api].filter((one) => one !== undefined)
  return {
    reader: createBitcoinFactsReader({ chain, quorum, findSpenders, limits }),
    async verify(signal) {
      const networkBlocks = firstBlocksOf(chain)
      const answered = await askEnough(quorum, readFirstBlock, signal)
      return answered.flatMap(({ alias, said: hash }) =>
        networkBlocks.includes(hash) ? [] : [`endpoint of ${chain.id}: ${alias} is on another network`],
      )
    },
    verifyLocal: (signal) =>
      verifyLocalEndpoints(
        quorum,
        readFirstBlock,
        (hash) =>
          firstBlocks.regtest.includes(hash) ? undefined : 'is no regtest node, as ENVIRONMENT=local demands',
        signal,
      ),
    health: () => opened.flatMap((one) => one.health()),
    observe(observerOf) {
      for (const one of opened) one.observe(observerOf)
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()))
    },
  }
}

function readFirstBlock(view: BitcoinView, signal: AbortSignal): Promise<string | undefined> {
  return view.readBlockHash(0n, signal)
}

/** Hashes of the first block of a network, by its name in the chains file. */
export function firstBlocksOf({ network = 'mainnet' }: Pick<RegisteredChain, 'network'>): readonly string[] {
  return Object.entries(firstBlocks).find(([name]) => name === network)?.[1] ?? []
}
