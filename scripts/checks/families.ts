import ts from 'typescript'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { visitNodes } from './syntax.ts'

/** Paths that may name a family, because it is at home or registered there. */
const homes: readonly RegExp[] = [
  /^packages\/families\/src\/(?!registry\/|rules\/|shared\/)\w+\//,
  // Encodings of addresses and transaction ids of each family in the protocol.
  /^packages\/core\/src\/encodings\//,
  // The registries: one line per family in each.
  /^packages\/families\/src\/(registry\/families|chainFamilies)\.ts$/,
  // Contracts of the protocol are named by the family that their payloads are for.
  /^packages\/contracts\/src\//,
  // Exports of the packages from the family folders.
  /^packages\/(core|families)\/src\/(index|rules|config|encodings)\.ts$/,
]

/** Files that name a family all the same, each with its reason. */
export const exceptions: Readonly<Record<string, string>> = {
  'apps/allocator/src/keys/payloadKeys.ts': 'depositories of one family obey another curve',
  'apps/allocator/src/payloads/issued.ts': 'the program of one family has room for half a nonce',
  'apps/allocator/src/payloads/payingDepository.ts': 'what payloads of each family say beside their payment',
  'apps/oracle/src/attestations/noFillOrRefund.ts':
    'promises are signed by solvers of EVM chains, by the protocol',
  'apps/oracle/src/attestations/nonceMapping.ts':
    'transfers of one family name no order, and are signed for on EVM chains, by the protocol',
  'apps/oracle/src/attestations/settlement/execution.ts': 'the hub is an EVM chain, by the protocol',
  'apps/oracle/src/compose/allocator.ts': 'tells an operator what a payload of one family does',
  'apps/oracle/src/wire/requestExamples.ts': 'examples of the interface description',
  'apps/oracle/src/wire/requests.ts': 'bodies of the public protocol have members named by family',
  'apps/oracle/src/wire/responseExamples.ts': 'examples of the interface description',
  'apps/quote-api/src/http/wire/quoteBody.ts': 'descriptions of public fields that name a family',
  'packages/service/src/secretsLoader.ts': 'variables of keys, of which no other service may have one',
  'packages/core/src/attestation/noFillOrRefund.ts':
    'promises are signed by solvers of EVM chains, by the protocol',
  'apps/allocator/src/hub/signatureStore.ts': 'the hub is an EVM chain, by the protocol',
  'apps/quote-api/src/operate/cli/guardianSets.ts': 'the contract of guardians stands on Ethereum',
  'packages/console/src/shared/wallet.ts': 'wallets in browsers speak it',
  'packages/core/src/config/feeModels.ts': 'settings of the quote file are named in units of their chains',
  'packages/core/src/config/quoteChain.ts': 'a setting is described for each kind of chain',
  'packages/core/src/config/solverFile.ts': 'a setting is described for each kind of chain',
  'packages/families/src/rules/quotingFamily.ts': 'names of the fee models of the quote file',
  'packages/families/src/shared/networkReader.ts': 'what is shown of a price, in units of its chain',
  'packages/families/src/shared/thisMachine.ts': 'a local node says what it is by this method',
  'packages/market/src/evaluation/buildSnapshot.ts': 'a price is told in units of its chain',
  'packages/market/src/health.ts': 'members of a public answer',
  'packages/rpc/src/askInParts.ts': 'questions that are cut are those of EVM nodes',
  'packages/rpc/src/endpointSizes.ts': 'sizes are learned by questions of EVM nodes',
  'packages/rpc/src/headTracking.ts': 'the head of most chains is asked so',
  'packages/rpc/src/wire.ts': 'answers that may be null are known by their method',
}

const shippedFile = /^(?:apps|packages)\/(?!localnet\/)[^/]+\/src\/.+(?<!\.test)\.ts$/
const familyName = /ethereum-vm|solana|bitcoin|hyperliquid|lighter|\btron(?:-vm)?/i
/** Smallest units, and costs, that one family alone counts in. */
const familyUnit = /lamport|satoshi|\bsun\b|[a-z]Sun(?![a-z])|\benergy|Energy/
/** Methods of the nodes of one family. */
const rpcMethod = /^(?:eth|debug|web3|txpool)_\w+$/
const namings = [familyName, familyUnit, rpcMethod]

/**
 * Families differ in their records alone, so that one is added in its folders and the registries.
 * Units and methods of a family's nodes are names of it too. Comments may name families: they explain, and decide nothing.
 * @source rule F-167
 */
export const familiesCheck: Check = {
  name: 'families',
  find: (files) => {
    const naming = files.filter(({ path }) => shippedFile.test(path)).flatMap(namesIn)
    const found = new Set(naming.map(({ path }) => path))
    return [
      ...naming
        .filter(({ path }) => exceptions[path] === undefined)
        .map(
          ({ path, name }): Finding => ({
            file: path,
            problem: `it names the family ${name}; ask the family's record for what differs`,
          }),
        ),
      ...Object.keys(exceptions)
        .filter((path) => !found.has(path))
        .map((path): Finding => ({ file: path, problem: 'it names no family; drop it from the exceptions' })),
    ]
  },
}

/** The first family, unit or method of one that code, not a comment, of a file names. */
function namesIn({
  path,
  text,
}: RepositoryFile): readonly { readonly path: string; readonly name: string }[] {
  if (homes.some((home) => home.test(path))) return []
  const names: string[] = []
  visitNodes(text, (node) => {
    const said =
      ts.isIdentifier(node) || ts.isLiteralExpression(node) || isTemplatePart(node) ? node.text : ''
    const name = namings.map((naming) => naming.exec(said)?.[0]).find((found) => found !== undefined)
    if (name !== undefined) names.push(name)
  })
  return names.slice(0, 1).map((name) => ({ path, name }))
}

function isTemplatePart(node: ts.Node): node is ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail {
  return ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
}
