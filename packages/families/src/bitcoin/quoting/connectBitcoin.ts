import { UpstreamUnavailableError } from '@causeway/core'
import type { ChainClient, NamedOutput } from '@causeway/rpc'
import { AddressRefusedError, createQuorumOver, type EndpointSource, type QuorumClient } from '@causeway/rpc'
import { connectByJsonRpc } from '../../shared/quotingChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { createBitcoindView } from '../reading/bitcoindView.ts'
import type { BitcoinView } from '../reading/bitcoinView.ts'
import { createEsploraView } from '../reading/esploraView.ts'
import { bitcoinHeadTracking, esploraQuorumOf } from '../reading/openQuorums.ts'

/**
 * A client over the nodes of a chain, whose `nameOutputs` asks Esplora-compatible APIs. Without such an API each node
 * scans all unspent outputs: that is fast on a local network and takes minutes on the main one.
 * @throws ConfigurationError for endpoints that are no URLs
 */
export function connectBitcoin(chain: RegisteredChain): ChainClient {
  // Blocks are ten minutes apart: a node that lacks two is out of step.
  const client = connectByJsonRpc(chain, { headTracking: bitcoinHeadTracking, lagBlocksMax: 1 })
  const api = esploraQuorumOf(chain, createEsploraView)
  return {
    ...client,
    nameOutputs: api === undefined ? listByNodes(client) : listBy(api, (view) => view),
    observe(observerOf) {
      client.observe(observerOf)
      api?.observe(observerOf)
    },
    async close() {
      await Promise.all([client.close(), api?.close()])
    },
  }
}

type NameOutputs = NonNullable<ChainClient['nameOutputs']>

/** Asks for one address after another, because a node scans for one address at a time and refuses others meanwhile. */
function listByNodes(client: ChainClient): NameOutputs {
  const quorum = createQuorumOver(client)
  const list = listBy(quorum, (view) => createBitcoindView(view))
  let lastScan: Promise<unknown> = Promise.resolve()
  return (...args) => {
    const scan = lastScan.then(() => list(...args))
    lastScan = scan.catch(() => undefined)
    return scan
  }
}

/** Outputs that any of the endpoints lists, so that no single one hides any. `whose`: see `BitcoinView`. */
function listBy<Source extends EndpointSource>(
  quorum: QuorumClient<Source>,
  viewOf: (source: Source) => BitcoinView,
): NameOutputs {
  return async (address, signal, whose) => {
    const each = await quorum.askEach(
      (source, viewSignal) => viewOf(source).nameOutputs(address, viewSignal, whose),
      signal,
    )
    const answered = each.flatMap(({ said }): (readonly NamedOutput[])[] =>
      said === undefined || said === 'refused' ? [] : [said],
    )
    if (answered.length === 0 && each.some(({ said }) => said === 'refused'))
      throw new AddressRefusedError(quorum.chainId, address)
    if (answered.length === 0)
      throw new UpstreamUnavailableError(`No endpoint of ${quorum.chainId} names the outputs of an address.`)
    return answered.flat()
  }
}
