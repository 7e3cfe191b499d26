import { feeParts, feeRule } from '@causeway/core'

/** Cell for a part that a view leaves out. */
const absentCell = 'none'

/** Views of the fees in answers: name of the view, and the member of it in which a fee part is counted. */
const feeViews: readonly (readonly [string, (part: (typeof feeParts)[number]) => string])[] = [
  ['fees', ({ total }) => total],
  ['feeSponsorship', ({ component }) => component],
  ['details.expandedPriceImpact', ({ component }) => feeRule(component).impact],
  ['data.fees of /requests/v2', ({ requestV2 }) => (requestV2 === 'unlisted' ? absentCell : requestV2)],
  ['data.fees of /requests/v3', ({ component }) => feeRule(component).requestV3],
]

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/**
 * Markdown table of fee parts, and where each view counts them. It is made from the rules that answers are made from, so
 * it cannot differ from them. @source Q-9
 */
const feeTable: string = [
  lineOf(['Part', ...feeViews.map(([name]) => `\`${name}\``)]),
  lineOf(['---', ...feeViews.map(() => '---')]),
  ...feeParts.map((part) =>
    lineOf([
      part.about,
      ...feeViews
        .map(([, memberOf]) => memberOf(part))
        .map((name) => (name === absentCell ? name : `\`${name}\``)),
    ]),
  ),
].join('\n')

/** Explanation of fees in Markdown, for the OpenAPI description of `/quote`. */
export const aboutFees = `An answer tells its fees in several ways. Each is a sum of the same parts:

${feeTable}

- \`fees.relayer\` is \`relayerGas\` and \`relayerService\`, and so the \`total\` of \`execution\`, \`swap\`, \`relay\` and \`rent\`.
- \`fees.subsidized\` is what a sponsor pays of them: \`sponsoredTotal\`, and \`expandedPriceImpact.sponsored\`.
- \`fees.gas\` is paid to the network of the origin, and is in none of the others.
- Costs are negative in \`expandedPriceImpact\`, and in USD; each amount is rounded by itself.
- \`breakdown\` is no fee: it repeats the output and the time.`
