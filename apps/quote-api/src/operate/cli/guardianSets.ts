import type { Hex } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import type { ChainFinding } from '@causeway/families'
import { contractInterface } from '@causeway/families/rules'
import { type ChainClient, MalformedAnswerError, NodeError, parseBytes } from '@causeway/rpc'

const pyth = contractInterface(['function wormhole() view returns (address)'])
const wormhole = contractInterface([
  'function getCurrentGuardianSetIndex() view returns (uint32)',
  'function getGuardianSet(uint32 index) view returns ((address[] keys, uint32 expirationTime))',
])

/**
 * Compares the guardian sets of the quote file with those of Pyth's own contracts on a chain.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError, NodeError
 */
export async function guardianMistakes(
  key: string,
  client: Pick<ChainClient, 'agree'>,
  { guardianSets }: Pick<QuoteFile, 'guardianSets'>,
): Promise<readonly ChainFinding[]> {
  const findings = await Promise.all(
    guardianSets.map(async ({ contract }, position): Promise<readonly ChainFinding[]> => {
      if (contract?.chain !== key) return []
      const setting = `quote: guardianSets[${position}]`
      const { index, addresses } = await currentSet(client, contract.address)
      const listedSet = guardianSets.find((set) => set.index === index)
      const value =
        listedSet?.addresses.join(', ') ?? guardianSets.map((set) => `set ${set.index}`).join(', ')
      if (listedSet !== undefined && listedSet.addresses.join() === addresses.join()) return []
      const actualSet = `set ${index}: ${addresses.join(', ')}`
      return [
        {
          kind: 'guardianSet',
          setting,
          value,
          said: actualSet,
          problem: `${setting}: the contract takes ${actualSet}`,
        },
      ]
    }),
  )
  return findings.flat()
}

/** The guardian set that Pyth's contract accepts now, by the Wormhole contract that it names. */
async function currentSet(client: Pick<ChainClient, 'agree'>, contract: Hex) {
  const wormholeAddress = pyth.decode('wormhole', await call(client, contract, pyth.encode('wormhole', [])))
  const indexName = 'getCurrentGuardianSetIndex'
  const index = wormhole.decode(
    indexName,
    await call(client, wormholeAddress, wormhole.encode(indexName, [])),
  )
  const setName = 'getGuardianSet'
  const guardianSet = wormhole.decode(
    setName,
    await call(client, wormholeAddress, wormhole.encode(setName, [index])),
  )
  return { index, addresses: guardianSet.keys.map((address) => address.toLowerCase()) }
}

async function call(client: Pick<ChainClient, 'agree'>, to: Hex, data: Hex): Promise<Hex> {
  const method = 'eth_call'
  const { answers } = await client.agree([{ method, params: [{ to, data }, 'latest'] }])
  const [answer] = answers
  if (answer === undefined) throw new MalformedAnswerError(method)
  if (!answer.ok) throw new NodeError(answer)
  const returned = parseBytes(answer.result, method)
  // An address without code answers empty bytes.
  if (returned.length < wordLength) throw new MalformedAnswerError(method)
  return returned
}

/** Characters of `0x` and 32 bytes. */
const wordLength = 66
