// vitest begins with the files that took longest in its last run. A fresh clone has no last run, and begins with
// the largest texts: the longest files then come last, and one worker ends them alone.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take more than 15 seconds on two cores, and of `npm test` more than 9, the longest first. One that is
 * missing here costs time at the end of a run and nothing else.
 */
export const longFiles: readonly string[] = [
  'test/payers/hyperliquid.test.ts',
  'apps/solver/test/solverFaults.test.ts',
  'test/familyPairings.test.ts',
  'test/payees.test.ts',
  'apps/quote-api/test/depositAddresses.test.ts',
  'apps/quote-api/test/settlement.test.ts',
  'apps/quote-api/test/databaseStates.test.ts',
  'apps/solver/test/forgedWork.test.ts',
  'packages/market/test/market.test.ts',
  'test/quotedEqualsReceived.test.ts',
  'test/hostedNodes.test.ts',
  'test/hostedFamilies.test.ts',
  'test/families/hyperliquidPaying.test.ts',
  'apps/quote-api/test/parkedRequests.test.ts',
  'apps/quote-api/test/settlementReorgs.test.ts',
  'apps/quote-api/test/addedFee.test.ts',
  'test/bitcoinDepositAddresses.test.ts',
  'test/recording/quoteApi.test.ts',
  'test/acceptance/attestationOracle.test.ts',
  'test/families/solanaFactsLies.test.ts',
  'apps/quote-api/test/lateDeposits.test.ts',
  'apps/quote-api/test/runningProcess.test.ts',
  'apps/solver/test/solver.test.ts',
  'scripts/configs/settingRefusals.test.ts',
  'test/protocolModel.test.ts',
  'packages/contracts/test/forge.test.ts',
  'apps/quote-api/test/chainFaults.test.ts',
  'apps/quote-api/test/lyingEndpoints.test.ts',
  'apps/allocator/test/allocatorLimits.test.ts',
  'test/traces.test.ts',
  'apps/quote-api/test/sharedLimits.test.ts',
  'apps/quote-api/test/unpaidQuotes.test.ts',
  'test/upgrades.test.ts',
  'test/tronSettlement.test.ts',
  'apps/quote-api/test/rollingRestart.test.ts',
  'apps/quote-api/test/durability.test.ts',
  'packages/market/test/marketLies.test.ts',
  'apps/quote-api/test/execution.test.ts',
  'packages/ledger/test/ledgerModel.test.ts',
  'apps/oracle/test/attestedAhead.test.ts',
  'test/tronQuotes.test.ts',
  'test/hyperliquidQuotes.test.ts',
  'test/families/bitcoinFactsLies.test.ts',
  'apps/allocator/test/allocator.test.ts',
  'test/settlementByOracles.test.ts',
  'apps/oracle/test/signingCaps.test.ts',
  'packages/service/test/tracing.test.ts',
  'packages/service/test/shutdown.test.ts',
  'test/families/ethereumFactsLies.test.ts',
  'apps/quote-api/test/jobs.test.ts',
  'apps/quote-api/test/appFeeClaims.test.ts',
  'apps/quote-api/test/startup.test.ts',
  'test/solanaSettlement.test.ts',
  'test/exposedMetrics.test.ts',
  'apps/quote-api/test/deniedAccounts.test.ts',
  'test/protocolOnChains.test.ts',
  'apps/quote-api/test/secretsStayHidden.test.ts',
  'test/recording/oracle.test.ts',
  'test/acceptance/quoteAndSponsorship.test.ts',
  'test/hyperliquidSolver.test.ts',
  'apps/quote-api/test/filledRequest.test.ts',
  'apps/quote-api/test/topUps.test.ts',
  'test/families/tronFactsLies.test.ts',
  'apps/quote-api/test/execute.test.ts',
  'test/families/familyLibraries.test.ts',
  'apps/quote-api/test/followsTheMarket.test.ts',
  'test/lighterQuotes.test.ts',
  'test/solverReorganizations.test.ts',
  'apps/quote-api/test/appFeeAccrual.test.ts',
  'packages/http/test/flood.test.ts',
  'test/bitcoinAttestations.test.ts',
  'test/paymentHoles.test.ts',
  'test/protocolHoles.test.ts',
  'test/tronAttestations.test.ts',
  'test/crossFamilyTable.test.ts',
  'apps/oracle/test/faultyPeers.test.ts',
  'apps/oracle/test/chainFaults.test.ts',
  'apps/quote-api/test/solverReports.test.ts',
  'test/families/hyperliquidFactsLies.test.ts',
  'packages/signer/test/awsKms.test.ts',
  'apps/quote-api/test/statusSocket.test.ts',
  'test/hyperliquidAttestations.test.ts',
  'apps/oracle/test/runningOracle.test.ts',
  'apps/quote-api/test/webhooks.test.ts',
  'test/solanaAppFeeClaims.test.ts',
  'test/solanaAttestations.test.ts',
  'test/contractModels.test.ts',
  'test/withdrawalFamilies.test.ts',
  'test/solanaFeePayer.test.ts',
  'apps/quote-api/test/paidAccounts.test.ts',
  'apps/quote-api/test/permits.test.ts',
  'packages/database/test/migrate.test.ts',
  'test/bitcoinSettlement.test.ts',
  'packages/localnet/test/hostileTokens.test.ts',
  'test/lighterAttestations.test.ts',
  'apps/oracle/test/keptAnswers.test.ts',
  'packages/localnet/test/uniswapQuote.test.ts',
  'packages/database/test/startTestPostgres.test.ts',
  'test/families/publishedTypes.test.ts',
  'apps/oracle/test/replicas.test.ts',
  'apps/quote-api/test/sponsoredQuotes.test.ts',
  'apps/quote-api/test/discovery.test.ts',
  'apps/quote-api/test/selfExecuted.test.ts',
  'apps/quote-api/test/inventory.test.ts',
  'apps/solver/test/solanaOrders.test.ts',
  'test/withdrawalAttacks.test.ts',
  'apps/quote-api/test/walletLinking.test.ts',
  'test/families/poolMirror.test.ts',
  'apps/oracle/test/hubAcceptance.test.ts',
  'packages/ledger/test/backup.test.ts',
  'apps/quote-api/test/operatorCommands.test.ts',
  'apps/quote-api/test/contractCommands.test.ts',
  'test/solanaQuotes.test.ts',
  'test/rpc/rpcFaults.test.ts',
  'test/localConfigs.test.ts',
]

const places = new Map(longFiles.map((path, index) => [path, index]))

/** Long files before all others of their project; shards share out the long ones. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    // A project's files stand together: the groups of the projects follow each other.
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => placeOf(one) - placeOf(other)),
    )
  }

  /** Depends on paths alone, so that all shards of all machines are together every file, and each once. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byPath = new Map(files.map((file) => [pathOf(file), file]))
    const paths = shareOf([...byPath.keys()], this.ctx.config.shard ?? { index: 1, count: 1 })
    return paths.flatMap((path) => byPath.get(path) ?? [])
  }
}

/** Paths of one shard: all are dealt out in turn, the long ones first. */
export function shareOf(
  paths: readonly string[],
  { index, count }: { readonly index: number; readonly count: number },
): readonly string[] {
  const placeIn = (path: string): number => places.get(path) ?? longFiles.length
  return paths
    .toSorted((one, other) => placeIn(one) - placeIn(other) || compareTexts(one, other))
    .filter((_, place) => place % count === index - 1)
}

const pathOf = ({ project, moduleId }: TestSpecification): string =>
  moduleId.slice(project.vitest.config.root.length + 1)

const placeOf = (file: TestSpecification): number => places.get(pathOf(file)) ?? longFiles.length

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
