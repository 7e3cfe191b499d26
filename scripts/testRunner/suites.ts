// Which test files `npm test` leaves out. A suite has one purpose, a command and a CI job of its own.

/** Globs of every end-to-end file, from the repository's root. */
export const endToEndFiles = ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'test/**/*.test.ts']

/** Files by the suite that they run in. A file that stands in none runs in `npm test`. */
export const suiteFiles = {
  /** `npm test -- --suite=alerts`: what Prometheus makes of our metrics and rules; it must be installed. */
  alerts: [
    'test/alerts/faults.test.ts',
    'test/alerts/lies.test.ts',
    'test/alerts/money.test.ts',
    'test/alerts/networks.test.ts',
    'test/alerts/operators.test.ts',
    'test/alerts/oracles.test.ts',
    'test/alerts/overload.test.ts',
    'test/alerts/rules.test.ts',
    'test/alerts/solver.test.ts',
  ],
  /** `npm run test:clients`: what others publish works here unmodified. */
  clients: [
    'apps/quote-api/test/agents.test.ts',
    'apps/quote-api/test/publishedShapes.test.ts',
    'test/console.test.ts',
    'test/olderClients.test.ts',
    'test/publicClient.test.ts',
    'test/publicClientBitcoin.test.ts',
    'test/publicClientFailures.test.ts',
    'test/publicClientHyperliquid.test.ts',
    'test/publicClientSocket.test.ts',
    'test/publicClientSolana.test.ts',
    'test/publicClientTron.test.ts',
    'test/publicHooks.test.ts',
    'test/referencePage.test.ts',
    'test/shop.test.ts',
    'test/swapWidget.test.ts',
    'test/unlistedClients.test.ts',
  ],
  /** `npm test -- --suite=families`: each family from its quotes to the shipped solver that pays on it, kills included. */
  families: [
    'apps/solver/test/bitcoinKills.test.ts',
    'apps/solver/test/bitcoinProcess.test.ts',
    'apps/solver/test/bitcoinSweeps.test.ts',
    'apps/solver/test/deskKills.test.ts',
    'apps/solver/test/hyperliquidKills.test.ts',
    'apps/solver/test/hyperliquidProcess.test.ts',
    'apps/solver/test/lighterKills.test.ts',
    'apps/solver/test/lighterProcess.test.ts',
    'apps/solver/test/solanaKills.test.ts',
    'apps/solver/test/solanaOrders.test.ts',
    'apps/solver/test/solanaProcess.test.ts',
    'apps/solver/test/tronKills.test.ts',
    'apps/solver/test/tronProcess.test.ts',
    'test/bitcoinAttestations.test.ts',
    'test/bitcoinDepositAddresses.test.ts',
    'test/bitcoinQuotes.test.ts',
    'test/bitcoinSettlement.test.ts',
    'test/families/familyLibraries.test.ts',
    'test/families/hyperliquidPaying.test.ts',
    'test/families/lighterPaying.test.ts',
    'test/families/solanaQuotingChain.test.ts',
    'test/familyPairings.test.ts',
    'test/familyPairingsSolver.test.ts',
    'test/familyServices.test.ts',
    'test/hostedFamilies.test.ts',
    'test/hyperliquidAttestations.test.ts',
    'test/hyperliquidQuotes.test.ts',
    'test/hyperliquidSolver.test.ts',
    'test/keptHeads.test.ts',
    'test/lighterAttestations.test.ts',
    'test/lighterQuotes.test.ts',
    'test/payees.test.ts',
    'test/recoveredFamilies.test.ts',
    'test/solanaAppFeeClaims.test.ts',
    'test/solanaAttestations.test.ts',
    'test/solanaDepositAddresses.test.ts',
    'test/solanaFeePayer.test.ts',
    'test/solanaPushedSlots.test.ts',
    'test/solanaSettlement.test.ts',
    'test/tronAttestations.test.ts',
    'test/tronQuotes.test.ts',
    'test/tronSettlement.test.ts',
    'test/walletKinds.test.ts',
    'test/withdrawalFamilies.test.ts',
  ],
  /**
   * `npm test -- --suite=fuzz`: random searches and models, at the size that the design names: lies of endpoints, bodies, markets,
   * books. Their long sizes run in `faults`.
   */
  fuzz: [
    'apps/oracle/src/http/bodyFuzz.test.ts',
    'apps/quote-api/src/http/routes/bodyFuzz.test.ts',
    'apps/quote-api/src/pricing/legs/movedPool.property.test.ts',
    'apps/quote-api/src/pricing/priceDeposit.property.test.ts',
    'apps/quote-api/src/pricing/randomMarkets.property.test.ts',
    'apps/quote-api/src/pricing/solanaMarkets.property.test.ts',
    'apps/quote-api/src/pricing/solverRoute/refusals.property.test.ts',
    'apps/quote-api/src/pricing/sponsorship/sponsoredMarkets.property.test.ts',
    'apps/quote-api/test/historyFuzz.test.ts',
    'packages/core/src/encodings/codecs.property.test.ts',
    'packages/core/src/order/orderId.property.test.ts',
    'packages/families/src/registry/withdrawRequest.property.test.ts',
    'packages/ledger/test/concurrency.test.ts',
    'packages/ledger/test/ledgerModel.test.ts',
    'packages/localnet/test/hostileTokens.test.ts',
    'packages/localnet/test/uniswapQuote.test.ts',
    'packages/market/test/marketLies.test.ts',
    'test/contractModels.test.ts',
    'test/crossFamilyTable.test.ts',
    'test/families/bitcoinFactsQuorum.test.ts',
    'test/families/ethereumFactsLies.test.ts',
    'test/families/hyperliquidFactsLies.test.ts',
    'test/families/lighterQuorum.test.ts',
    'test/families/poolMirror.test.ts',
    'test/families/solanaFactsLies.test.ts',
    'test/families/tronFactsLies.test.ts',
    'test/paymentHoles.test.ts',
    'test/protocolHoles.test.ts',
    'test/protocolModel.test.ts',
    'test/protocolOnChains.test.ts',
    'test/quotedEqualsReceived.test.ts',
  ],
  /** `npm test -- --suite=localnet`: what a newcomer types works: the start, its restarts, the demo and the guides. */
  localnet: [
    'apps/quote-api/test/sponsorGuide.test.ts',
    'packages/database/test/embeddedPostgres.test.ts',
    'packages/localnet/test/networkKeeper.test.ts',
    'packages/localnet/test/networkLeftDatabase.test.ts',
    'packages/localnet/test/networkRestart.test.ts',
    'packages/localnet/test/networkRun.test.ts',
    'packages/localnet/test/networkSession.test.ts',
    'packages/localnet/test/networkSnapshot.test.ts',
    'packages/localnet/test/networkStart.test.ts',
    'test/demo.test.ts',
    'test/familiesLocally.test.ts',
    'test/recoveredDeposit.test.ts',
    'test/shadowLocally.test.ts',
    'test/solanaLocally.test.ts',
    'test/solanaQuotedEqualsReceived.test.ts',
    'test/withdrawnInventory.test.ts',
  ],
  /**
   * `npm test -- --suite=operations`: what becomes of a running service: its starts, upgrades and ends, databases and endpoints
   * that fail, floods, limits, what it tells of itself.
   */
  operations: [
    'apps/oracle/test/chainFaults.test.ts',
    'apps/oracle/test/fastBlocks.test.ts',
    'apps/oracle/test/faultyPeers.test.ts',
    'apps/oracle/test/replicas.test.ts',
    'apps/oracle/test/runningOracle.test.ts',
    'apps/oracle/test/sharedProcesses.test.ts',
    'apps/oracle/test/signingCaps.test.ts',
    'apps/quote-api/test/addedFee.test.ts',
    'apps/quote-api/test/audit.test.ts',
    'apps/quote-api/test/chainFaults.test.ts',
    'apps/quote-api/test/chainStops.test.ts',
    'apps/quote-api/test/databaseStates.test.ts',
    'apps/quote-api/test/defaultLimits.test.ts',
    'apps/quote-api/test/deniedAccounts.test.ts',
    'apps/quote-api/test/doctor.test.ts',
    'apps/quote-api/test/durability.test.ts',
    'apps/quote-api/test/fastBlocks.test.ts',
    'apps/quote-api/test/heldWork.test.ts',
    'apps/quote-api/test/jobs.test.ts',
    'apps/quote-api/test/keyUsage.test.ts',
    'apps/quote-api/test/lyingEndpoints.test.ts',
    'apps/quote-api/test/networkWatch.test.ts',
    'apps/quote-api/test/oracleHalts.test.ts',
    'apps/quote-api/test/parkedRequests.test.ts',
    'apps/quote-api/test/recoveries.test.ts',
    'apps/quote-api/test/rollingRestart.test.ts',
    'apps/quote-api/test/runningProcess.test.ts',
    'apps/quote-api/test/secretsStayHidden.test.ts',
    'apps/quote-api/test/sharedLimits.test.ts',
    'apps/quote-api/test/sharedRewards.test.ts',
    'apps/quote-api/test/solverTerms.test.ts',
    'apps/quote-api/test/startup.test.ts',
    'apps/quote-api/test/status.test.ts',
    'apps/quote-api/test/unseenDeposits.test.ts',
    'apps/solver/test/fastBlocks.test.ts',
    'packages/contracts/src/artifacts.test.ts',
    'packages/database/test/migrate.test.ts',
    'packages/database/test/startTestPostgres.test.ts',
    'packages/http/test/flood.test.ts',
    'packages/http/test/holding.test.ts',
    'packages/http/test/sockets.test.ts',
    'packages/ledger/test/backup.test.ts',
    'packages/ledger/test/durability.test.ts',
    'packages/market/test/market.test.ts',
    'packages/service/test/closing.test.ts',
    'packages/service/test/shutdown.test.ts',
    'packages/service/test/tracing.test.ts',
    'packages/signer/test/awsKms.test.ts',
    'scripts/bundle.test.ts',
    'scripts/sbom/bills.test.ts',
    'test/addedFamily.test.ts',
    'test/databases/failover.test.ts',
    'test/databases/hostClock.test.ts',
    'test/databases/poolers.test.ts',
    'test/embeddedDatabase.test.ts',
    'test/exposedMetrics.test.ts',
    'test/mistakes.test.ts',
    'test/startRefusals.test.ts',
    'test/traces.test.ts',
    'test/upgrades.test.ts',
  ],
  /** `npm run test:production`: what only other environments than `local` ask for. */
  production: [
    'apps/quote-api/test/productionMarket.test.ts',
    'apps/quote-api/test/productionStart.test.ts',
    'packages/ledger/test/pointInTime.test.ts',
    'test/production/field.test.ts',
    'test/production/rehearsal.test.ts',
  ],
  /**
   * `npm test -- --suite=settlement`: an order's whole life between the shipped services: fills, refunds, claims and webhooks,
   * through late deposits, reorganizations, kills and forged work.
   */
  settlement: [
    'apps/allocator/test/allocator.test.ts',
    'apps/allocator/test/allocatorLimits.test.ts',
    'apps/oracle/test/attestedAhead.test.ts',
    'apps/oracle/test/keptAnswers.test.ts',
    'apps/oracle/test/settledOnce.test.ts',
    'apps/quote-api/test/appFeeAccrual.test.ts',
    'apps/quote-api/test/appFeeClaims.test.ts',
    'apps/quote-api/test/contractSigners.test.ts',
    'apps/quote-api/test/depositAddresses.test.ts',
    'apps/quote-api/test/depositDepth.test.ts',
    'apps/quote-api/test/execute.test.ts',
    'apps/quote-api/test/execution.test.ts',
    'apps/quote-api/test/filledRequest.test.ts',
    'apps/quote-api/test/followsTheMarket.test.ts',
    'apps/quote-api/test/inventory.test.ts',
    'apps/quote-api/test/lateDeposits.test.ts',
    'apps/quote-api/test/lateLists.test.ts',
    'apps/quote-api/test/paidAccounts.test.ts',
    'apps/quote-api/test/permits.test.ts',
    'apps/quote-api/test/selfExecuted.test.ts',
    'apps/quote-api/test/settlement.test.ts',
    'apps/quote-api/test/settlementReorgs.test.ts',
    'apps/quote-api/test/solverReports.test.ts',
    'apps/quote-api/test/standingRequests.test.ts',
    'apps/quote-api/test/statusSocket.test.ts',
    'apps/quote-api/test/topUps.test.ts',
    'apps/quote-api/test/unpaidQuotes.test.ts',
    'apps/quote-api/test/webhooks.test.ts',
    'apps/solver/test/forgedWork.test.ts',
    'apps/solver/test/replacedContracts.test.ts',
    'apps/solver/test/solver.test.ts',
    'apps/solver/test/solverFaults.test.ts',
    'apps/solver/test/toldWork.test.ts',
    'test/evmPayees.test.ts',
    'test/haltedChains.test.ts',
    'test/replacedFillContract.test.ts',
    'test/settlementByOracles.test.ts',
    'test/solverReorganizations.test.ts',
    'test/unattestedPayments.test.ts',
  ],
  /**
   * `npm run test:faults`: kills at random moments, whose rule a shorter file proves as well. The long sizes of all
   * other files run there too.
   */
  faults: [
    'apps/quote-api/test/appFeeClaimKills.test.ts',
    'apps/quote-api/test/orderStore.test.ts',
    'apps/quote-api/test/settlementProcesses.test.ts',
    'apps/quote-api/test/sponsoredDurability.test.ts',
    'apps/quote-api/test/topUpTrees.test.ts',
    'apps/solver/test/solverPermits.test.ts',
    'apps/solver/test/solverSweeps.test.ts',
    'test/livesUnderFaults.test.ts',
    'test/soak/soak.test.ts',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Suite = keyof typeof suiteFiles

export const suites = [
  'alerts',
  'clients',
  'families',
  'fuzz',
  'localnet',
  'operations',
  'production',
  'settlement',
  'faults',
] as const satisfies readonly Suite[]

/** Suites that have a script of their own beside `--suite`. */
const scripted: readonly Suite[] = ['clients', 'production', 'faults']

export function suiteCommand(suite: Suite): string {
  return scripted.includes(suite) ? `npm run test:${suite}` : `npm test -- --suite=${suite}`
}

/** Suite against a real node; `test:all` leaves it out, since no package brings that node. */
export const bitcoindSuite = 'bitcoind'

/** Set while the long sizes are asked for; a file that reads it has one. */
export const longSizesVariable = 'CAUSEWAY_FAULTS'

/** Arguments of vitest for a suite: its project; for `faults` its files and those with long sizes of any project. */
export function suiteArguments(
  suite: Suite | typeof bitcoindSuite,
  filesWithLongSizes: () => readonly string[],
): readonly string[] {
  if (suite === bitcoindSuite) return ['--config', 'vitest.bitcoind.config.ts']
  if (suite !== 'faults') return ['--project', suite]
  // Files of every project: a file with a long size may be in any suite.
  return [...new Set([...suiteFiles.faults, ...filesWithLongSizes()])]
}

/** One file after the other. `--maxWorkers=1` would not do: the number that a project names counts before it. */
export const oneAtATime = '--no-file-parallelism'

const packageFolder = /^(?:packages|apps)\/[^/]+\/?$/
const isPath = (word: string): boolean => word.includes('/') || word.endsWith('.ts')

/**
 * Arguments of vitest for the words after `npm test --`. The folder of a package stands for its unit tests, which take
 * seconds; `<package>/test` and names of files run in whichever suite has them.
 */
export function filteredArguments(words: readonly string[]): readonly string[] {
  const paths = words.filter(isPath)
  const isPackages = paths.length > 0 && paths.every((path) => packageFolder.test(path))
  // The slash keeps `packages/core` from matching what begins alike.
  const ended = words.map((word) => (packageFolder.test(word) && !word.endsWith('/') ? `${word}/` : word))
  return isPackages ? ['--project', 'unit', ...ended] : words
}
