import AgentKit

PromptProgram(name: "ask", abstract: "Asks on this terminal.").main { TerminalPrompt() }
