import type { Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { createJsonRpcClient, createQuorumOver } from '@causeway/rpc'
import type { OpenFamilyChain } from '../../shared/familyChain.ts'
import type { ReliedContract } from '../../shared/knownCode.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { checkLocalNodes } from '../../shared/thisMachine.ts'
import { codeProblems, expectedCodes } from '../contracts/expectedCode.ts'
import { createEthereumFactsReader } from './factsReader.ts'
import { verifyEvmEndpoints } from './verifyEndpoints.ts'

/** Opens an `ethereum-vm` chain for reading facts. @throws ConfigurationError for endpoints that are no URLs */
export const openEthereumChain: OpenFamilyChain = (chain, limits) => {
  const { id, endpoints, rpcThreshold, hubChainId, depository } = chain
  const clientOptions = {
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold: rpcThreshold,
  }
  // CAST: a canonical address of this family is lower-case hex.
  const address = ethereumCodec.canonicalAddress(depository) as Hex
  const contract = { setting: `chains: ${id}.depository`, address }
  const client = createJsonRpcClient(clientOptions)
  const quorum = createQuorumOver(client)
  return {
    reader: createEthereumFactsReader({ chain, quorum, limits, recordsPayments: limits.recordsPayments }),
    async verify(signal) {
      const threshold = rpcThreshold
      // The hub numbers an EVM chain by its own chain id.
      const expectation = { client, chainId: BigInt(hubChainId), contract, threshold }
      const problems = await verifyEvmEndpoints(expectation, { signal })
      if (problems.length > 0 || limits.isKnownCode === undefined) return problems
      const { codeHashes } = chain
      const expected = expectedCodes(reliedContracts(chain), { isKnown: limits.isKnownCode, codeHashes })
      return codeProblems({ client, expected, threshold }, { signal })
    },
    verifyLocal: (_signal, environment = 'local') => checkLocalNodes(environment, client),
    health: () => quorum.health(),
    observe: (observerOf) => quorum.observe(observerOf),
    close: () => client.close(),
  }
}

/** Contracts whose code deposits and payments rely on. */
function reliedContracts({
  id,
  depository,
  additionalDepositories = [],
  fillContracts = [],
}: RegisteredChain) {
  const contractsOf = (name: ReliedContract, setting: string, addresses: readonly string[]) =>
    addresses.map((address) => ({
      name,
      setting: `chains: ${id}.${setting}`,
      // CAST: a canonical address of this family is lower-case hex.
      address: ethereumCodec.canonicalAddress(address) as Hex,
    }))
  return [
    ...contractsOf('Depository', 'depository', depository === undefined ? [] : [depository]),
    ...contractsOf('Depository', 'additionalDepositories', additionalDepositories),
    ...contractsOf('FillContract', 'fillContracts', fillContracts),
  ]
}
