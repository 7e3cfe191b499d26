// Goal: the promises of every contract that ships hold whatever it is called with, in whatever order, by whomever.
// Method: forge runs the Solidity tests of the folder beside this file over the committed code, with random arguments
// and random sequences of calls; each of them is a test here. CAUSEWAY_FAULTS=1 runs the long form.
import { beforeAll, describe, expect, test } from 'vitest'
import { contractsFolder, readSources } from '../src/artifacts.ts'
import { type ForgeOutcome, runForge } from './forge/runForge.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const [sizes, timeout] = isLongForm
  ? [{ runs: 2_000, sequences: 100, depth: 100 }, 1_800_000]
  : [{ runs: 32, sequences: 8, depth: 30 }, 300_000]

const suites: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ReturnedDataTest: {
    aRecipientsAnswer: 'P-60: the answer of a recipient costs its payer no gas, at whatever length',
    aTokensAnswer: 'P-60: the answers of a token that is paid and swept cost the filler no gas',
    aFailingTokensReason: 'P-60: the reason of a failing token is cut, and costs the filler no gas',
    theAnswerOfAnOrdersCall: 'P-60: what the call of an order gives back is cut, and costs the filler no gas',
    theAnswerOfASignedCall: 'P-60: an allowed failure of the depository stops nothing by its length',
    theAnswerOfASigner: 'P-60: what an account with code says of a signature is read by its first word',
    theAnswerOfAPermittedCall: 'P-60: an allowed failure of permitted calls stops nothing by its length',
    answersToTheCleanupRouter: 'P-60: targets and tokens of the cleanup router cost no gas by long answers',
    answersToTheDepositRouter: 'P-60: swaps and tokens of the deposit router cost no gas by long answers',
    answersToDepositAddresses: 'P-60: tokens at a deposit address cost no gas by long answers',
    answersToThePermitRouter: 'P-60: a permit that fails at any length costs no gas but its own',
    reasonsAreReadable: 'P-60: the first 256 bytes of a reason are told',
    burnedGasStopsWithAnError: 'P-60: a recipient that burns all gas is refused by name',
    whatATokenMaySay: 'P-61: a token says yes by nothing or by the word 1, and only where there is code',
  },
  FillContractTest: {
    paysExactly: 'P-63: a payment moves exactly its amounts, and the contract keeps nothing',
    onceAndNotAfterClose: 'P-63: an id is paid once for a filler, never after it was closed',
    deadlineAndValue: 'P-63: nothing is paid after the deadline or with another value',
    callsSpendTheirOwnMoney: 'P-63: calls spend what their clone was paid, the rest is the recipient’s',
    callsReachNoAllowance: 'P-63: calls reach no allowance of a filler',
    runIsForTheFillContract: 'P-63: nobody but the fill contract runs calls',
    allOrNothing: 'P-63: a call that fails takes back every payment and the record',
    noEntryWhileItPays: 'P-63: nobody who is called by a payment gets into another one',
  },
  FillInvariants: {
    paysOnceAndHoldsNothing: 'P-63: whatever three fillers do, ids are paid once and nothing stays',
  },
  DepositoryTest: {
    depositsAreWholeAndNamed: 'P-64: a deposit arrives whole and is told with its depositor and id',
    onlyItsOwnAllocatorSigns: 'P-64: a request that is changed, of another chain, contract or key is refused',
    executesOnceUntilItExpires: 'P-64: a request is executed once, until it expires',
    failuresUndoUnlessAllowed: 'P-64: a failing call undoes its request unless it may fail',
    payeeCannotExecuteAgain: 'P-64: a payee that enters executes nothing again',
    aWalletSignsForItself: 'P-64: an allocator with code signs by its own answer alone',
    rightsAreTheOwners: 'P-64: the owner alone names the allocator, and the initializer alone the owner',
  },
  DepositoryInvariants: {
    holdsWhatWasDepositedLessWhatWasSigned: 'P-64: it holds what was deposited less what was signed',
  },
  DepositAddressesTest: {
    sweepsEverythingIntoItsOrder:
      'P-65: a sweep deposits everything at the address for its order, again and again',
    nobodySweepsIntoAnotherOrder: 'P-65: another sender, signer, order or address moves nothing',
    whatIsWithdrawnGoesToTheDepositor:
      'P-65: a withdrawal gives the depositor everything, whether he takes coin or not',
    swapsAtTheOrdersPriceAtLeast: 'P-65: a swap deposits all of its output, at the order’s price at least',
    aSwapIsItsOrders: 'P-65: a swap of other terms than the order’s is refused',
    noInputIsLeft: 'P-65: a swap that leaves input is refused',
    noEntryWhileItSweeps: 'P-65: nobody who is called by a sweep gets into another one',
    takesNoCoinOfStrangers: 'P-65: coin of a stranger is refused',
  },
  DepositRouterTest: {
    whatGoesInComesOut: 'P-66: what a swap takes is spent or given back, and nothing stays',
    lessThanTheLeastIsRefused: 'P-66: an output below the least is refused with both amounts',
    swapsOfOneTokenAndWrongValuesAreRefused:
      'P-66: a swap of one token, another value and loose coin are refused',
    noEntryWhileItSwaps: 'P-66: nobody who is called by a swap gets into another one',
  },
  CleanupRouterTest: {
    handsOnExactly: 'P-66: the cleanup router hands on exactly what it is told, or all',
    callsTakeNoMoreAndLeaveNoAllowance: 'P-66: a call takes what it is allowed, and no allowance stays',
    refusesWhatWouldStayOrFail: 'P-66: the cleanup router refuses what would stay or fails',
    theCallerIsTheRecipientThatIsNotNamed: 'P-66: the caller gets coin that names nobody',
  },
  PermitRouterTest: {
    anAuthorizationIsItsOrdersDeposit: 'P-67: an authorization is the deposit of its order, once',
    aPermitIsItsOrdersDeposit: 'P-67: a permit is the deposit of its order, once, whoever hands it in first',
    nothingElseComesOfASignature: 'P-67: no other deposit, chain or contract comes of a signature',
    noEntryWhileItDeposits: 'P-67: nobody who is called by a signed deposit gets into another one',
  },
  Permit2RouterTest: {
    callsSpendWhatWasSigned: 'P-67: permitted calls spend what was signed, the rest goes back',
    onlyWhatWasSigned: 'P-67: nothing that differs from what was signed takes a token',
    failuresStopUnlessAllowed: 'P-67: a permitted call that fails stops all unless it may fail',
    noEntryWhileItCalls: 'P-67: nobody who is called by permitted calls gets into others',
  },
  HubTest: {
    operatorsAloneMoveBalances: 'P-68: operators alone move balances, and the owner alone names them',
    nobodyOwesMoreThanIsHeld: 'P-68: nothing is burned that is not held, and no supply overflows',
    anExecutionIsAppliedOnceWhereItWasSigned:
      'P-68: a changed execution, of another chain or contract is refused',
    failingExecutionsStopNoOthers: 'P-68: an execution that fails or was applied stops no other one',
  },
  HubInvariants: {
    supplyIsWhatIsOwed:
      'P-68: the supply is the sum of all balances and what was minted less what was burned',
  },
  OracleMultisigTest: {
    acceptsTheThresholdOfItsSigners: 'P-68: as many signers as the threshold sign, and no fewer',
    countsNoSignerTwiceAndNoOutsider:
      'P-68: a signer twice, an outsider, another order or spelling do not count',
    formerSignersDoNotCount: 'P-68: a former signer does not count, and the owner alone replaces them',
  },
  GenericMappingTest: {
    anEntryIsWrittenOnceByWhoMay: 'P-68: an entry is written once, by its user or an operator',
    anOraclesSignatureWritesOneEntry: 'P-68: the signature of an oracle writes one entry, once',
  },
  AllocatorTest: {
    aRequestIsPaidExactlyAndOnce: 'P-69: a signed request pays its receiver exactly, once',
    oneRequestForANonce: 'P-69: a spender’s nonce has one request for ever',
    onlyWhatTheOraclesSigned: 'P-69: a request that differs from what the oracles signed is refused',
    noTwoRequestsHaveOnePayload: 'P-69: no payload is that of two requests',
    signaturesAreTheSignersAndStayed: 'P-69: the signer alone stores a signature, once',
  },
  PayloadBuildersTest: {
    bitcoinPaysTheAmountLessItsFee:
      'P-69: a Bitcoin payload pays the amount less its fee, and the change back',
    solanaNamesReceiverTokenAndAmount:
      'P-69: a Solana payload names receiver, token, amount, nonce and expiry',
    hyperliquidNamesReceiverTokenAndAmount:
      'P-69: a Hyperliquid payload names receiver, token, amount and time',
    hyperliquidPaysNoUnknownTokenOrDex: 'P-69: a Hyperliquid payload of another token or dex is empty',
    lighterNamesAccountsAssetAndAmount: 'P-69: a Lighter payload names accounts, asset, amount and memo',
    hashesDifferWithTheAmount: 'P-69: what is signed differs with the amount',
    malformedTextsAreRefused: 'P-69: a text of another spelling is refused',
  },
}

const nameOf = (suite: string, name: string): string =>
  `${suite}.${suite.endsWith('Invariants') ? 'invariant' : 'testFuzz'}_${name}`
const rows = Object.entries(suites).flatMap(([suite, titles]) =>
  Object.entries(titles).map(([name, title]) => ({ title, name: nameOf(suite, name) })),
)

describe('what forge found', () => {
  let outcome: ForgeOutcome
  beforeAll(async () => {
    outcome = await runForge(sizes)
  }, timeout)

  test.each(rows)('$title', ({ name }) => {
    expect([outcome.has(name), outcome.get(name)]).toEqual([true, undefined])
  })

  test('has a title here for each test, and a test for each title', () => {
    expect([...outcome.keys()].sort()).toEqual(rows.map(({ name }) => name).sort())
  })
})

test('P-60: Calls.sol alone calls addresses that others choose', async () => {
  /** Calls whose answer Solidity copies, and of tokens by an interface that returns something. */
  const copying = /\.(?:call|staticcall|delegatecall)[({]|\bIERC20\(|\bIERC1271\(/
  const found = (await readSources(contractsFolder))
    .filter(({ content }) => copying.test(content))
    .map(({ path }) => path)
  expect(found).toEqual([])
})
