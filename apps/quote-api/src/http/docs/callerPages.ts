import { posix } from 'node:path'
import { type Docs, servedFolders } from './readDocs.ts'

/** Matches code, or a Markdown link with its text and target. Code comes first, so that links in code are left as they are. */
const codeOrLink = /```[\s\S]*?```|`[^`\n]*`|\[((?:`[^`]*`|[^[\]])*)\]\(([^)\s]+)\)/g

/** The pages as callers get them: a link to a file that is not served is replaced by its text. */
export function callerPages(docs: Docs): Docs {
  return new Map([...docs].map(([path, text]) => [path, withServedLinks(path, text, docs)]))
}

function withServedLinks(path: string, text: string, docs: Docs): string {
  return text.replace(codeOrLink, (match, linkText?: string, target = '') => {
    if (linkText === undefined || /^(?:#|https?:)/.test(target)) return match
    const [file = ''] = target.split('#')
    return docs.has(posix.join(posix.dirname(path), file)) ? match : linkText
  })
}

/**
 * The list of the pages for language models: a heading, a quotation, and a section of links per folder. Links are
 * relative, so that they hold behind every address of the service.
 * @source https://llmstxt.org
 */
export function pageList(docs: Docs): string {
  const pages = [...docs]
  return `${[
    '# Causeway',
    '> Quotes for moving value between chains and currencies, with sponsored fees, and oracles that attest what happened.',
    'Every page is Markdown. The HTTP interface is described as OpenAPI.',
    '## Interface',
    '- [Interface description](documentation/json): Every operation with its fields, answers, errors and an example.',
    ...servedFolders.flatMap((folder) => {
      const folderPages = pages.filter(([path]) => path.startsWith(`${folder}/`))
      if (folderPages.length === 0) return []
      const heading = `## ${folder.charAt(0).toUpperCase()}${folder.slice(1)}`
      return [heading, folderPages.map(([path, text]) => describePage(path, text)).join('\n')]
    }),
  ].join('\n\n')}\n`
}

/** A list item: link with the page's title, then the first sentence below the title. */
function describePage(path: string, text: string): string {
  const [, title = path, opening = ''] = /^# (.+)\n+(.*)/.exec(text) ?? []
  const [sentence = ''] = /^.*?\.(?=\s|$)/.exec(opening) ?? []
  const words = sentence.replace(codeOrLink, (match, linkText?: string) => linkText ?? match)
  return `- [${title}](docs/${path})${words === '' ? '' : `: ${words}`}`
}
