// vitest begins with the files that took longest in its last run. A fresh clone has no last run, and begins with
// the largest texts: the longest files then come last, and one worker ends them alone.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files of `npm test` that take more than 15 of its seconds on two cores, the longest first. One that is missing here
 * costs time at the end of a run and nothing else.
 */
export const longFiles: readonly string[] = [
  'apps/solver/test/solverFaults.test.ts',
  'apps/quote-api/test/settlement.test.ts',
  'apps/allocator/test/allocatorLimits.test.ts',
  'apps/quote-api/test/parkedRequests.test.ts',
  'apps/solver/test/solver.test.ts',
  'packages/market/test/market.test.ts',
  'test/quotedEqualsReceived.test.ts',
  'apps/quote-api/test/databaseStates.test.ts',
  'apps/quote-api/test/settlementReorgs.test.ts',
  'apps/solver/test/forgedWork.test.ts',
  'apps/quote-api/test/lyingEndpoints.test.ts',
  'apps/quote-api/test/unpaidQuotes.test.ts',
  'apps/quote-api/test/execution.test.ts',
  'apps/quote-api/test/lateDeposits.test.ts',
  'test/settlementByOracles.test.ts',
  'packages/market/test/marketLies.test.ts',
  'apps/quote-api/test/depositAddresses.test.ts',
  'apps/quote-api/test/addedFee.test.ts',
  'apps/quote-api/test/appFeeClaims.test.ts',
  'test/bitcoinAttestations.test.ts',
  'apps/quote-api/test/filledRequest.test.ts',
  'apps/quote-api/test/topUps.test.ts',
  'test/protocolOnChains.test.ts',
  'apps/solver/test/solverReorganizations.test.ts',
  'packages/chains/test/ethereumFactsLies.test.ts',
  'apps/quote-api/test/execute.test.ts',
  'test/recording/quoteApi.test.ts',
  'packages/ledger/test/ledgerModel.test.ts',
  'apps/quote-api/test/followsTheMarket.test.ts',
  'apps/quote-api/test/appFeeAccrual.test.ts',
  'packages/http/test/flood.test.ts',
  'apps/quote-api/test/startup.test.ts',
  'apps/quote-api/test/chainFaults.test.ts',
  'apps/quote-api/test/jobs.test.ts',
  'apps/oracle/test/faultyPeers.test.ts',
  'test/protocolHoles.test.ts',
  'apps/quote-api/test/durability.test.ts',
  'apps/oracle/test/signingCaps.test.ts',
  'packages/chains/test/solanaFactsLies.test.ts',
  'apps/allocator/test/allocator.test.ts',
  'apps/quote-api/test/secretsStayHidden.test.ts',
  'apps/quote-api/test/solverReports.test.ts',
  'packages/http/test/shutdown.test.ts',
  'apps/quote-api/test/permits.test.ts',
  'test/crossFamilyTable.test.ts',
  'test/tronAttestations.test.ts',
  'apps/quote-api/test/historyFuzz.test.ts',
  'apps/oracle/test/chainFaults.test.ts',
  'apps/quote-api/test/webhooks.test.ts',
]

/** Long files before all others of their project; among the others, and within a shard, as vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(longFiles.map((path, index) => [path, index]))
    const placeOf = ({ project, moduleId }: TestSpecification): number =>
      places.get(moduleId.slice(project.vitest.config.root.length + 1)) ?? longFiles.length
    const sorted = await super.sort(files)
    // A project's files stand together: the groups of the projects follow each other.
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => placeOf(one) - placeOf(other)),
    )
  }
}
