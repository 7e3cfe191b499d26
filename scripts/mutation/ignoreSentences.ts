type SyntaxPath = {
  readonly node: {
    readonly type: string
    readonly value?: unknown
    readonly quasis?: readonly { readonly value: { readonly raw: string } }[]
  }
}

/** Leaves out what people read, such as the reason of a refusal: no rule depends on its words. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sentences',
    value: {
      shouldIgnore: ({ node }: SyntaxPath): string | undefined =>
        isSentence(node) ? 'a sentence' : undefined,
    },
  },
]

/** Three words or more. With parentheses they may be types or code, which hashes depend on. */
function isSentence({ type, value, quasis = [] }: SyntaxPath['node']): boolean {
  const parts = type === 'TemplateLiteral' ? quasis.map((part) => part.value.raw) : [String(value)]
  const text = parts.join('x')
  return (
    (type === 'StringLiteral' || type === 'TemplateLiteral') && /\S \S+ \S/.test(text) && !/[()\n]/.test(text)
  )
}
