import { feeParts, feeRule } from '@causeway/core'

/** A cell of a way that does not tell the part. */
const absentCell = 'none'

/** Each way to tell the fees of a request: its name in answers, and the member that a part is counted in. */
const ways: readonly (readonly [string, (part: (typeof feeParts)[number]) => string])[] = [
  ['fees', ({ total }) => total],
  ['feeSponsorship', ({ component }) => component],
  ['details.expandedPriceImpact', ({ component }) => feeRule(component).impact],
  ['data.fees of /requests/v2', ({ requestV2 }) => (requestV2 === 'unlisted' ? absentCell : requestV2)],
  ['data.fees of /requests/v3', ({ component }) => feeRule(component).requestV3],
]

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/**
 * Each way to tell the fees of a request and the parts that it counts, as Markdown: made of the rules that answers are made of.
 * @source Q-9
 */
const feeTable: string = [
  lineOf(['Part', ...ways.map(([name]) => `\`${name}\``)]),
  lineOf(['---', ...ways.map(() => '---')]),
  ...feeParts.map((part) =>
    lineOf([
      part.about,
      ...ways
        .map(([, memberOf]) => memberOf(part))
        .map((name) => (name === absentCell ? name : `\`${name}\``)),
    ]),
  ),
].join('\n')

/** Explanation of fees for the operations that quote, as Markdown. */
export const aboutFees = `An answer tells its fees in several ways. Each is a sum of the same parts:

${feeTable}

- \`fees.relayer\` is \`relayerGas\` and \`relayerService\`, and so the \`total\` of \`execution\`, \`swap\`, \`relay\` and \`rent\`.
- \`fees.subsidized\` is what a sponsor pays of them: \`sponsoredTotal\`, and \`expandedPriceImpact.sponsored\`.
- \`fees.gas\` is paid to the network of the origin, and is in none of the others.
- Costs are negative in \`expandedPriceImpact\`, and in USD; each amount is rounded by itself.
- \`breakdown\` is no fee: it repeats the output and the time.`
