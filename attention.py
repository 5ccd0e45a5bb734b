"""The lesson, to run: `.venv/bin/python attention.py --help` says how.

The numbers come from `numpy_impl.lesson` and `torch_impl.lesson`; here are
only the words, the arguments and the printing.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import importlib.util
import io
import itertools
import locale
import math
import os
import re
import secrets
import shutil
import signal
import statistics
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple, NoReturn

try:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
except (ModuleNotFoundError, KeyboardInterrupt) as error:
    # Whoever imports this file wants the exception; who runs it does not.
    if __name__ != "__main__":
        raise
    if isinstance(error, KeyboardInterrupt):
        sys.exit(130)
    missing = str(error.name).partition(".")[0]
    print(
        f"attention.py: {missing} is not installed for this Python; "
        "try .venv/bin/python attention.py",
        file=sys.stderr,
    )
    sys.exit(2)

LANGUAGES = ("en", "zh-Hant")
VERSIONS = {"numpy": "NumPy", "torch": "PyTorch"}
# Tables of scores that stand in memory at once at the peak: the scores,
# the masked scores, their powers and the weights, and the mask itself.
PEAK_TABLES = 4.5
MIB = 2**20

# Every word the program says, in both languages; a line is a sentence.
WORDS: dict[str, tuple[str, str]] = {
    "title": (
        "Attention, written twice",
        "注意力，寫兩遍",
    ),
    "poem": (
        "The tokens are five characters of a poem by Li Bai: {tokens}",
        "詞元（token）是李白〈靜夜思〉的五個字：{tokens}",
    ),
    "both": (
        "Each number is computed twice, by NumPy and by PyTorch {version}.",
        "每個數字都算兩遍：NumPy 一遍，PyTorch {version} 一遍。",
    ),
    "numpy": ("Computed by NumPy.", "由 NumPy 計算。"),
    "torch": (
        "Computed by PyTorch {version}.",
        "由 PyTorch {version} 計算。",
    ),
    "no torch": (
        "PyTorch is not installed here, so NumPy computes alone.",
        "這裡沒有安裝 PyTorch，所以只由 NumPy 計算。",
    ),
    "zero": ("· is exactly 0.", "· 表示恰好是 0。"),
    "difference": (
        "Largest difference between NumPy and PyTorch: {largest:.1e}",
        "NumPy 與 PyTorch 最多相差 {largest:.1e}",
    ),
    "sdpa": (
        "Largest difference from PyTorch's scaled_dot_product_attention:",
        "與 PyTorch 的 scaled_dot_product_attention 最多相差：",
    ),
    "no sdpa": (
        "Compare it with PyTorch's scaled_dot_product_attention: --impl both",
        "要與 PyTorch 的 scaled_dot_product_attention 比較：--impl both",
    ),
    "no torch sdpa": (
        "Install torch to compare it with PyTorch's own function:\n"
        ".venv/bin/python -m pip install torch",
        "安裝 torch 就能與 PyTorch 內建的函式比較：\n"
        ".venv/bin/python -m pip install torch",
    ),
    "section 1": (
        "1  Averaging: every position trusts its whole past equally",
        "1  平均：每個位置對過去一視同仁",
    ),
    "text 1": (
        "Each position takes the mean of itself and all before it.\n"
        "All means at once are one product: a lower-triangular matrix of\n"
        "weights times x.",
        "每個位置取自己和之前所有位置的平均。\n"
        "一次矩陣乘法就算出所有平均：下三角的權重矩陣乘以 x。",
    ),
    "row 3": ("row 3 of the product", "乘積的第 3 列"),
    "mean of 3": ("mean of the first three", "前三個向量的平均"),
    "section 2": (
        "2  Query and key: weights that depend on what is there",
        "2  查詢與鍵：權重取決於內容",
    ),
    "text 2": (
        "{token} asks with its query {query}; each token offers a key.\n"
        "The dot product of query and key is a score, and softmax turns the\n"
        "scores into weights that sum to one. Scores × 5 keep their order\n"
        "but lie further apart, and the weights get sharper.",
        "「{token}」用查詢 {query} 發問，每個字用自己的鍵回應。\n"
        "查詢與鍵的內積是分數，softmax 再把分數變成總和為一的權重。\n"
        "分數都乘以 5，順序不變、差距變大，權重就更集中。",
    ),
    "key 0": ("key: light", "鍵：光亮"),
    "key 1": ("key: place", "鍵：地點"),
    "score": ("score", "分數"),
    "weight": ("weight", "權重"),
    "sharp weight": ("weight, scores × {times:g}", "權重，分數 × {times:g}"),
    "section 3": (
        "3  Causal mask: no position sees a later one",
        "3  因果遮罩：看不到後面的位置",
    ),
    "text 3": (
        "A score that must not count becomes -inf before the softmax, and\n"
        "exp(-inf) = 0. Query and key are random here: the weights have no\n"
        "meaning until they are trained.",
        "不該算進來的分數，在 softmax 之前設為 -inf，而 exp(-inf) = 0。\n"
        "這裡的查詢與鍵是隨機的：還沒訓練，權重就沒有意義。",
    ),
    "section 4": (
        "4  Dividing by √d: scores that do not grow with the width",
        "4  除以 √d：分數不隨維度變大",
    ),
    "text 4": (
        "The dot product of two random vectors of width d, of mean 0 and\n"
        "variance 1, has standard deviation √d. Undivided, the greatest\n"
        "weight of a row nears 1: the softmax is saturated, and hardly any\n"
        "gradient passes through it. The weights below are means over five\n"
        "rows of one random draw, so they wobble.",
        "兩個 d 維隨機向量（各分量平均 0、變異數 1）的內積，標準差是 √d。\n"
        "不除的話，每列最大的權重會接近 1：softmax 飽和，梯度幾乎傳不過去。\n"
        "下面的權重只取自一次隨機抽樣，是五列的平均，所以會有起伏。",
    ),
    "deviation": ("standard deviation", "標準差"),
    "unscaled": ("undivided", "不除"),
    "scaled": ("divided", "除以 √d"),
    "columns 4": (
        "Standard deviation of q·k; greatest weight, undivided and divided:",
        "q·k 的標準差；不除與除以 √d 時的最大權重：",
    ),
    "section 5": ("5  One complete head", "5  一個完整的注意力頭"),
    "text 5": (
        "Three matrices make query, key and value out of x: what asks, what\n"
        "is found, and what is given. Training learns these three matrices.\n"
        "The output of a position is the sum of all values, each times its\n"
        "weight.",
        "三個矩陣把 x 變成查詢、鍵與值：拿什麼去問、靠什麼被找到、給出什麼。\n"
        "訓練時學的，就是這三個矩陣。\n"
        "每個位置的輸出，就是各個值乘上權重再相加。",
    ),
    "last output": (
        "row 5 of the output, first 4 of 8",
        "輸出的第 5 列（8 個數的前 4 個）",
    ),
    "weighted values": (
        "values times the weights of 光, summed",
        "各個值乘上「光」的權重再相加",
    ),
    "shapes": (
        "x {x} → query, key, value {query} → output {output}",
        "x {x} → 查詢、鍵、值 {query} → 輸出 {output}",
    ),
    "cost": (
        "The table of scores is T × T: twice the length, four times the\n"
        "table. Exercise 3 measures it.",
        "分數表的大小是 T × T：長度加倍，表就變四倍。練習 3 會實際量一量。",
    ),
    "next": (
        "Go on: .venv/bin/python attention.py exercise 1 (or 2, 3), or quiz",
        "接下來：.venv/bin/python attention.py exercise 1（或 2、3），或 quiz",
    ),
    "exercise 1": (
        "Exercise 1  Another query for {token}",
        "練習 1  替「{token}」換一個查詢",
    ),
    "text e1": (
        "The query of {token} was {before}; now it is {after}.\n"
        "The keys are the same, so only the question has changed.\n"
        "Try your own: exercise 1 --query 0.5 0.5",
        "「{token}」的查詢本來是 {before}，現在是 {after}。\n"
        "鍵沒有變，變的只是問題。\n"
        "自己試試：exercise 1 --query 0.5 0.5",
    ),
    "weight before": ("weight before", "原來的權重"),
    "change": ("change", "增減"),
    "exercise 2": (
        "Exercise 2  The head without its causal mask",
        "練習 2  拿掉因果遮罩的注意力頭",
    ),
    "text e2": (
        "With the mask (above) and without it (below): every position now\n"
        "sees the whole line. The last row had seen it all before.",
        "上面有遮罩，下面沒有：每個位置都看得到整句。\n最後一列本來就看得到全部，所以不變。",
    ),
    "exercise 3": (
        "Exercise 3  What length costs",
        "練習 3  長度的代價",
    ),
    "text e3": (
        "One causal head of width {width}, float32; the median of {runs} "
        "runs, after one\nto warm up. "
        "Try your own: exercise 3 --lengths 500 1000 2000",
        "一個 {width} 維的因果注意力頭，float32；"
        "先暖身一次，再取 {runs} 次的中位數。\n"
        "自己試試：exercise 3 --lengths 500 1000 2000",
    ),
    "text e3 torch": (
        "PyTorch runs the head written out step by step here, not its fused\n"
        "function.",
        "PyTorch 在這裡執行的是逐步寫出的注意力頭，"
        "不是它的融合（fused）函式。",
    ),
    "table": ("table, MiB", "分數表（MiB）"),
    "time": ("{name}, ms", "{name}（ms）"),
    "exponent": ("exponent", "指數"),
    "text exponent": (
        "Time grows as T to the power of the exponent; the table as T².",
        "時間與 T 的「指數」次方成正比；分數表與 T² 成正比。",
    ),
    "timing": ("timing", "計時"),
    "quiz": ("Three questions", "三個問題"),
    "show": ("Press Enter for the answer.", "按 Enter 看答案。"),
    "answers": (
        "The answers: .venv/bin/python attention.py quiz --answers",
        "看答案：.venv/bin/python attention.py quiz --answers",
    ),
    "question 1": (
        "1  What do query, key and value each do?",
        "1  查詢、鍵、值各做什麼？",
    ),
    "answer 1": (
        "The query asks, the key is what the query is compared with, and the\n"
        "value is what is handed over. In section 2 {token}'s query with the\n"
        "key of {best} scores {score:.2f}: in a head with these weights "
        "{weight:.0%} of what\n{token} gathers would be the value of {best}. "
        "Values have no say in the weights.",
        "查詢負責發問，鍵拿來與查詢比對，值是真正交出去的內容。\n"
        "在第 2 節，「{token}」的查詢對「{best}」的鍵得 {score:.2f} 分："
        "注意力頭若用這些權重，\n「{token}」收到的內容就有 {weight:.0%} "
        "來自「{best}」的值。值完全不影響權重。",
    ),
    "question 2": (
        "2  How is the causal mask made, and why before the softmax?",
        "2  因果遮罩怎麼做？為什麼要在 softmax 之前？",
    ),
    "answer 2": (
        "Below and on the diagonal scores stay, above it they become -inf:\n"
        "a position is trained to predict what comes next and must not see\n"
        "it. After the softmax it would be too late: setting weights to 0\n"
        "there leaves row 1 of section 3 with a sum of {late:.2f}; "
        "before it, {early:.2f}.",
        "對角線及其下方的分數留著，上方的設為 -inf：\n"
        "每個位置要學會預測下一個字，所以不能先看到答案。\n"
        "在 softmax 之後才做就太遲了：那時把權重設為 0，第 3 節第 1 列的總和\n"
        "只剩 {late:.2f}；在之前做則是 {early:.2f}。",
    ),
    "question 3": (
        "3  Why are the scores divided by √d?",
        "3  為什麼分數要除以 √d？",
    ),
    "answer 3": (
        "A dot product adds d products, so its standard deviation grows as\n"
        "√d: for d = {d} it was {deviation:.2f}, and √d is {root:.2f}. "
        "Such scores\ngive one key nearly all, {unscaled:.2f} of the weight "
        "on average, and the\nothers hardly any gradient; divided, it is "
        "{scaled:.2f}.",
        "內積是 d 個乘積相加，標準差隨 √d 變大：d = {d} 時量到 "
        "{deviation:.2f}，而 √d 是 {root:.2f}。\n"
        "這麼大的分數會讓一個鍵幾乎獨占權重，平均占 {unscaled:.2f}，"
        "其他的鍵幾乎沒有梯度；\n除以 √d 之後是 {scaled:.2f}。",
    ),
    "wrote": ("wrote {path}", "已寫入 {path}"),
    # Help and errors.
    "help": (
        """\
.venv/bin/python attention.py [command] [options]

  (no command)              the five sections of the lesson
  exercise 1                another query for 光
  exercise 2                the head without its causal mask
  exercise 3                what length costs
  quiz                      three questions
  train                     a small model learns the poem, or --text FILE
  recall                    it learns to look back by content
  scale                     what the division by √d is for, measured

  --impl numpy|torch|both   which version computes (both);
                            train, recall, scale: one of them (numpy)
  --lang en|zh-Hant         the language (that of your locale)
  --section N ...           only these of the sections 1 to 5 (all)
  --plain                   no colour, stable text; also when the output
                            is no terminal
  --plot DIR                write each matrix as an SVG heat map to DIR
  --query A B               exercise 1: the query, two numbers (0 1)
  --lengths T ...           exercise 3: the lengths (1000 2000 4000)
  --answers                 quiz: show the answers without waiting
  --text FILE               train: any text in UTF-8 (the poem)
  --checkpoint FILE         train: where to keep what is learned, and to go
                            on from (poem.npz, or by the text's name)
  --steps N                 train: so many steps (until it knows the text,
                            at most 1000); recall: at most (1000);
                            scale: so many (400)
  --seed N                  train, recall, scale: other random numbers (0)
  -h, --help                this text""",
        """\
.venv/bin/python attention.py [指令] [選項]

  （不寫指令）              課程的五節
  exercise 1                替「光」換一個查詢
  exercise 2                拿掉因果遮罩的注意力頭
  exercise 3                長度的代價
  quiz                      三個問題
  train                     小模型學會這首詩，或 --text FILE
  recall                    學會依內容往回看
  scale                     除以 √d 有什麼用，實際量量看

  --impl numpy|torch|both   由哪個版本計算（both）；
                            train、recall、scale：其中一個（numpy）
  --lang en|zh-Hant         語言（依系統語言）
  --section N ...           只看第 1 到 5 節中的這幾節（全部）
  --plain                   不用顏色，文字固定；輸出不是終端機時也一樣
  --plot DIR                把每個矩陣畫成 SVG 熱圖，寫到 DIR
  --query A B               練習 1：查詢，兩個數字（0 1）
  --lengths T ...           練習 3：長度（1000 2000 4000）
  --answers                 問題：不等待，直接顯示答案
  --text FILE               train：任何 UTF-8 文字（這首詩）
  --checkpoint FILE         train：保存學到的東西，也從這裡接著訓練
                            （poem.npz，或用文字的檔名取名）
  --steps N                 train：走幾步（背熟為止，最多 1000 步）；
                            recall：最多幾步（1000）；
                            scale：走幾步（400）
  --seed N                  train、recall、scale：換一組隨機數（0）
  -h, --help                這份說明""",
    ),
    "bad choice": (
        "{name} is {value!r}, possible: {possible}",
        "{name} 是 {value!r}，可以用的有：{possible}",
    ),
    "no --impl": (
        "--impl needs numpy, torch or both",
        "--impl 後面要有 numpy、torch 或 both",
    ),
    "no --lang": (
        "--lang needs en or zh-Hant",
        "--lang 後面要有 en 或 zh-Hant",
    ),
    "no --section": (
        "--section needs one or more of 1 to 5",
        "--section 後面要有一或多個 1 到 5 的數字",
    ),
    "no --plot": ("--plot needs a folder", "--plot 後面要有一個資料夾"),
    "no --query": ("--query needs two numbers", "--query 後面要有兩個數字"),
    "no --lengths": (
        "--lengths needs one or more whole numbers",
        "--lengths 後面要有一或多個整數",
    ),
    "no value": (
        "{name} takes no value, but has {value!r}",
        "{name} 後面不能接值，這裡卻有 {value!r}",
    ),
    "comma": (", ", "、"),
    "or": (" or ", " 或 "),
    "bad command": (
        "{value!r} is not possible: nothing, exercise 1, exercise 2, "
        "exercise 3, quiz, train, recall or scale, without quotes",
        "不能用 {value!r}：可以不寫，或寫 exercise 1、exercise 2、"
        "exercise 3、quiz、train、recall 或 scale，不加引號",
    ),
    "no --text": ("--text needs a file", "--text 後面要有一個檔案"),
    "no --checkpoint": (
        "--checkpoint needs a file",
        "--checkpoint 後面要有一個檔案",
    ),
    "no --steps": (
        "--steps needs a whole number",
        "--steps 後面要有一個整數",
    ),
    "no --seed": ("--seed needs a whole number", "--seed 後面要有一個整數"),
    "bad seed": (
        "--seed is {value!r}, expected a whole number from 0 to 999999999",
        "--seed 是 {value!r}，應該是 0 到 999999999 的整數",
    ),
    "bad text": (
        "--text cannot read {path}: {reason}",
        "--text 無法讀取 {path}：{reason}",
    ),
    "bad utf-8": (
        "--text {path} is not UTF-8: byte {place} cannot be decoded",
        "--text {path} 不是 UTF-8：第 {place} 個位元組無法解碼",
    ),
    "short text": (
        "--text {path}: characters found: {count}, expected 2 or more",
        "--text {path} 只有 {count} 個字元，至少要有 2 個",
    ),
    "one version": (
        "{command} trains one version: --impl numpy or torch, not both",
        "{command} 只訓練一個版本：--impl 可以是 numpy 或 torch，不能是 both",
    ),
    "bad checkpoint": (
        "--checkpoint {path} is not a whole file of this command's; "
        "give another file, or take it away",
        "--checkpoint {path} 不是這個指令寫的完整檔案；"
        "請換一個檔案，或把它移走",
    ),
    "other checkpoint": (
        "--checkpoint {path} belongs to another text or seed; "
        "give another file, or take it away",
        "--checkpoint {path} 屬於另一段文字或另一個種子；"
        "請換一個檔案，或把它移走",
    ),
    "not finite": (
        "at step {step} the model's numbers are no longer finite; {path} "
        "keeps what was saved last",
        "到第 {step} 步，模型裡出現了非有限的數；{path} 還是上次保存的內容",
    ),
    "bad read": (
        "--checkpoint cannot read {path}: {reason}",
        "--checkpoint 無法讀取 {path}：{reason}",
    ),
    "bad write": (
        "--checkpoint cannot write {path}: {reason}",
        "--checkpoint 無法寫入 {path}：{reason}",
    ),
    # Training.
    "train": (
        "Training: what comes after each character",
        "訓練：每個字的後面是什麼",
    ),
    "text train": (
        "A model of {blocks} blocks with {heads} heads each, "
        "{count} numbers in all, sees the text\n"
        "again and again: {characters} characters, {kinds} different ones.",
        "模型有 {blocks} 層，每層 {heads} 個頭，共 {count} 個數字，"
        "反覆看同一段文字：\n{characters} 個字元，其中不同的有 {kinds} 個。",
    ),
    "training": ("training", "訓練中"),
    "step": (
        "step {step:>5}   loss {loss:7.4f}   {sample}",
        "第 {step:>5} 步   損失 {loss:7.4f}   {sample}",
    ),
    "resumed": (
        "Goes on from step {step}, kept in {path}.",
        "從 {path} 保存的第 {step} 步接著訓練。",
    ),
    "known": (
        "After {step} steps it knows the text by heart: after {start} "
        "it says {next}.",
        "{step} 步之後，它把整段文字背起來了：{start} 之後接 {next}。",
    ),
    "not known": (
        "After {step} steps it has {share:.0%} of the characters right.",
        "{step} 步之後，答對了 {share:.0%} 的字元。",
    ),
    "stopped": (
        "Stopped; what was learned is kept.",
        "已停止；學到的都保存下來了。",
    ),
    "kept": ("kept in {path}", "已保存到 {path}"),
    "text looks": (
        "What {token} looks at: with section 3's random query and key,\n"
        "and in each head of each block, now that they are trained.",
        "「{token}」看哪裡：先是第 3 節隨機的查詢與鍵，\n"
        "再來是訓練之後每一層的每個頭。",
    ),
    "random": ("random", "隨機"),
    "block head": ("block {block}, head {head}", "第 {block} 層，頭 {head}"),
    "train looks": ("What {token} looks at", "「{token}」看哪裡"),
    "train block": (
        "Block {block}: the mean of its heads",
        "第 {block} 層：各頭的平均",
    ),
    "recall": (
        "Looking back by content: pairs, then one of them again",
        "依內容往回看：先看幾對，再看其中一個",
    ),
    "text recall": (
        "{pairs} pairs, then the first of one of them: {example} → {answer}.\n"
        "The pairs are others every time: nothing can be learned by heart.\n"
        "Who guesses among the {pairs} partners is right {chance:.0%} of the "
        "time.",
        "{pairs} 對，接著是其中一對的第一個：{example} → {answer}。\n"
        "每次的配對都不同，背不起來。\n"
        "在 {pairs} 個裡面猜，有 {chance:.0%} 會猜中。",
    ),
    "attention": ("attention", "注意力"),
    "averaging": ("averaging (scale 0)", "平均（scale 0）"),
    "value is key": ("attention, value = key", "注意力，值 = 鍵"),
    "no scale": ("attention, without 1/√d", "注意力，不除以 √d"),
    "steps": ("steps", "步數"),
    "loss": ("loss", "損失"),
    "right": ("right", "答對"),
    "seconds": ("seconds", "秒"),
    "text found": (
        "What the last position, {asked}, looks at in each block. It finds "
        "the place\nwhere its partner {answer} stands, and takes it over.",
        "最後的位置「{asked}」在每一層看哪裡。它找到夥伴「{answer}」所在的"
        "位置，\n把它帶回來。",
    ),
    "text not found": (
        "What the last position, {asked}, looks at in each block. It has not "
        "learned to\nfind its partner {answer}: {share:.0%} are right.",
        "最後的位置「{asked}」在每一層看哪裡。它還沒學會找到夥伴「{answer}」："
        "\n答對的有 {share:.0%}。",
    ),
    "recall looks": ("What the last position looks at", "最後的位置看哪裡"),
    "block": ("block {block}", "第 {block} 層"),
    "scale": (
        "Why the scale: with 1/√d and without",
        "為什麼要縮放：除以 √d 與不除",
    ),
    "text scale": (
        "{rows} random queries and keys of width d. Entropy of the weights "
        "in nats: {most:.2f}\nis all alike, 0 is one key alone. Gradient: "
        "the norm of what comes back to a\nrow of scores.",
        "{rows} 個維度為 d 的隨機查詢與鍵。權重的熵以 nat 計：{most:.2f} 是"
        "完全相同，\n0 是只看一個鍵。梯度：傳回一列分數的量有多大。",
    ),
    "entropy": ("entropy", "熵"),
    "gradient": ("gradient", "梯度"),
    "undivided": ("undivided", "不除"),
    "text scale loss": (
        "The loss of the poem, and what is right of the pairs, after so many "
        "steps.\nA poem is learned by heart either way: positions are enough. "
        "Looking back by\ncontent is not: with seed 0 it takes 200 steps with "
        "the division, and without\nit 3000 are not enough. Other seeds take "
        "150 to 800: see --steps.",
        "這首詩的損失，以及配對答對的比例，各在多少步之後。\n"
        "詩怎樣都背得起來：靠位置就夠了。依內容往回看則不然：種子為 0 時，\n"
        "除以 √d，200 步就學會；不除，3000 步也不夠。\n"
        "換一個種子要 150 到 800 步：用 --steps。",
    ),
    "poem loss": ("poem, loss", "詩，損失"),
    "pairs right": ("pairs, right", "配對，答對"),
    "bad option": (
        "{name} is no option, possible: {possible}",
        "沒有 {name} 這個選項，可以用的有：{possible}",
    ),
    "bad place": (
        "{name} is not for this, but for: {possible}",
        "{name} 不能用在這裡，只能用在：{possible}",
    ),
    "lesson": ("the lesson", "課程本身"),
    "bad number": (
        "{name} is {value!r}, expected a finite number from -1e37 to 1e37",
        "{name} 是 {value!r}，應該是 -1e37 到 1e37 之間的數",
    ),
    "bad length": (
        "{name} is {value!r}, expected a whole number from 1 to 999999999",
        "{name} 是 {value!r}，應該是 1 到 999999999 的整數",
    ),
    "missing": (
        "{name} needs {package}, which is not installed: "
        ".venv/bin/python -m pip install {package}",
        "{name} 需要 {package}，這裡沒有安裝："
        ".venv/bin/python -m pip install {package}",
    ),
    "bad plot": (
        "--plot has nothing to draw in section 4, only in the others",
        "--plot 在第 4 節沒有東西可畫，其他各節才有",
    ),
    "bad folder": (
        "--plot cannot write to {path}: {reason}",
        "--plot 無法寫入 {path}：{reason}",
    ),
    "no room": (
        "--lengths {T}: the table of scores takes {table:.0f} MiB, with its "
        "copies {peak:.0f} MiB; {free:.0f} MiB are free, enough for {fits}",
        "--lengths {T}：分數表要 {table:.0f} MiB，連同副本要 {peak:.0f} MiB；"
        "可用的只有 {free:.0f} MiB，最長可到 {fits}",
    ),
}
EXERCISES = ("exercise 1", "exercise 2", "exercise 3")
TRAINING = ("train", "recall", "scale")
COMMANDS = ("", *EXERCISES, "quiz", *TRAINING)


class Option(NamedTuple):
    """How many words follow an option, and the commands it is for."""

    least: int
    most: int | None
    choices: Sequence[str] = ()
    commands: Sequence[str] = COMMANDS


OPTIONS = {
    "--impl": Option(1, 1, (*VERSIONS, "both")),
    "--lang": Option(1, 1, LANGUAGES),
    "--section": Option(1, None, tuple("12345"), ("",)),
    "--plain": Option(0, 0),
    "--plot": Option(1, 1, commands=("", *EXERCISES[:2], *TRAINING)),
    "--query": Option(2, 2, commands=("exercise 1",)),
    "--lengths": Option(1, None, commands=("exercise 3",)),
    "--answers": Option(0, 0, commands=("quiz",)),
    "--text": Option(1, 1, commands=("train",)),
    "--checkpoint": Option(1, 1, commands=("train",)),
    "--steps": Option(1, 1, commands=TRAINING),
    "--seed": Option(1, 1, commands=TRAINING),
    "--help": Option(0, 0),
}


class BadArgumentError(Exception):
    """What is wrong with the arguments, in one line."""


def word(lang: str, key: str, **values: Any) -> str:
    """Return the words of `key` in a language, with the values put in."""
    # A file may have any name, and the terminal is to survive it.
    shown = {
        name: visible(str(value)) if isinstance(value, Path) else value
        for name, value in values.items()
    }
    return WORDS[key][LANGUAGES.index(lang)].format(**shown)


def either(lang: str, names: Sequence[str]) -> str:
    """Return names as a list of choices: a, b or c."""
    *others, last = names
    if not others:
        return last
    return word(lang, "comma").join(others) + word(lang, "or") + last


class Version:
    """One of the two packages, and its own copy of the lesson's inputs."""

    def __init__(self, name: str) -> None:
        self.name = VERSIONS[name]
        self.package: ModuleType = importlib.import_module(f"{name}_impl")
        self.lesson: Any = self.package.lesson
        self.inputs = self.lesson.draw_inputs()

    def section(self, number: int) -> dict[str, NDArray[Any]]:
        """Return the numbers of a section by name, as NumPy arrays."""
        lesson, inputs = self.lesson, self.inputs
        steps = {
            1: lambda: lesson.average_the_past(inputs.past),
            2: lambda: lesson.match_keys(),
            3: lambda: lesson.look_back(inputs.query, inputs.key),
            4: lambda: lesson.vary_width(inputs.widths),
            5: lambda: self.head(causal=True),
        }
        return self.to_numpy(steps[number]())

    def head(self, causal: bool) -> Any:
        """Return the steps of section 5's head, with a mask or without."""
        i, T = self.inputs, len(self.lesson.TOKENS)
        mask = self.package.masks.causal_mask(T, T) if causal else None
        return self.lesson.one_head(i.x, i.w_q, i.w_k, i.w_v, mask)

    def to_numpy(self, steps: Any) -> dict[str, NDArray[Any]]:
        """Return the fields of a record as NumPy arrays."""
        return {
            name: np.asarray(value)
            if isinstance(value, tuple)
            else self.package.to_numpy(value)
            for name, value in steps._asdict().items()
        }


def largest_difference(
    one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]
) -> float:
    """Return how far two records lie apart; -inf on both sides is equal."""
    pairs = zip(one.values(), other.values(), strict=True)
    return max(
        float(
            np.max(np.abs(np.where(a == b, 0.0, a) - np.where(a == b, 0, b)))
        )
        for a, b in pairs
    )


def sdpa_difference(steps: dict[str, NDArray[Any]], causal: bool) -> float:
    """Return how far a head's output lies from PyTorch's own function."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    query, key, value = (
        torch.tensor(steps[name])[None] for name in ("query", "key", "value")
    )
    output = scaled_dot_product_attention(query, key, value, is_causal=causal)
    return float(np.max(np.abs(output[0].numpy() - steps["output"])))


class Page:
    """Where words, tables and heat maps go: a terminal or plain text."""

    def __init__(self, lang: str, plain: bool) -> None:
        self.lang = lang
        self.plot: Path | None = None
        self.zero_explained = False
        # A narrower terminal breaks a line of a table; rich would cut it.
        self.console = Console(
            width=79,
            color_system=None if plain else "auto",
            force_terminal=False if plain else None,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def word(self, key: str, **values: Any) -> str:
        """Return the words of `key` in the page's language."""
        return word(self.lang, key, **values)

    def title(self, key: str, **values: Any) -> None:
        """Print a heading."""
        self.console.print()
        self.line(Text(self.word(key, **values), style="bold"))

    def say(self, key: str, **values: Any) -> None:
        """Print what WORDS has under `key`."""
        self.line(Text(self.word(key, **values)))

    def line(self, text: Text) -> None:
        """Print text as it is, without breaking its lines anew."""
        self.console.print(text, soft_wrap=True)

    def grid(self, rows: Iterable[Sequence[Text]]) -> None:
        """Print rows of cells in columns; CJK characters are two wide."""
        table = Table.grid()
        for number, row in enumerate(rows):
            if number == 0:
                table.add_column(no_wrap=True)
                for _ in row[1:]:
                    table.add_column(no_wrap=True, justify="right")
            table.add_row(*row)
        self.console.print(table)

    def compare(self, rows: dict[str, NDArray[Any]]) -> None:
        """Print numbers that should be equal, one row above the other."""
        self.grid(
            [Text(self.word(key)), *(Text(f"{x:8.3f}") for x in row)]
            for key, row in rows.items()
        )

    def matrix(
        self,
        name: str,
        values: NDArray[Any],
        rows: Sequence[str],
        columns: Sequence[str],
        above: Sequence[tuple[str, Iterable[str]]] = (),
        below: Sequence[tuple[str, Iterable[str]]] = (),
        token: str = "光",
    ) -> None:
        """Print a matrix of weights as a heat map, and write it if asked.

        Above and below it may stand rows of text in the same columns.
        """

        def cells(label: str, row: Iterable[str]) -> list[Text]:
            return [Text(label), *(Text(f" {cell:>5}") for cell in row)]

        self.grid(
            [
                cells("", columns),
                *(cells(*row) for row in above),
                *(
                    [Text(label), *map(heat_cell, row)]
                    for label, row in zip(rows, values.tolist(), strict=True)
                ),
                *(cells(*row) for row in below),
            ]
        )
        if not self.zero_explained and np.any(values == 0):
            self.say("zero")
            self.zero_explained = True
        if self.plot is not None:
            path = self.plot / f"{name}.svg"
            title = self.word(name.replace("-", " "), token=token)
            self.draw(path, title, values, rows, columns)

    def draw(
        self,
        path: Path,
        title: str,
        values: NDArray[Any],
        rows: Sequence[str],
        columns: Sequence[str],
    ) -> None:
        """Write a matrix as a heat map."""
        self.write(
            path, partial(write_heat_map, path, title, values, rows, columns)
        )

    def write(self, path: Path, writer: Callable[[], None]) -> None:
        """Write a picture and say where it is, or what is in the way."""
        try:
            writer()
        except OSError as error:
            fail(self.lang, "bad folder", path=path, reason=error.strerror)
        self.say("wrote", path=path)


# Five colours of matplotlib's viridis, which its heat maps have too.
VIRIDIS = (
    (68, 1, 84),
    (59, 82, 139),
    (33, 145, 140),
    (94, 201, 98),
    (253, 231, 37),
)


def heat_cell(weight: float) -> Text:
    """Return a weight with its colour behind it; an exact 0 is a dot."""
    place = min(max(weight, 0.0), 1.0) * (len(VIRIDIS) - 1)
    left = min(int(place), len(VIRIDIS) - 2)
    red, green, blue = (
        round(a + (b - a) * (place - left))
        for a, b in zip(VIRIDIS[left], VIRIDIS[left + 1], strict=True)
    )
    ink = "black" if weight > 0.6 else "white"
    text = f"{'·' if weight == 0 else format(weight, '.2f'):>6}"
    return Text(text, style=f"{ink} on rgb({red},{green},{blue})")


def write_heat_map(
    path: Path,
    title: str,
    values: NDArray[Any],
    rows: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Write a matrix as an SVG heat map, whole or not at all."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.imshow(values, cmap="viridis", vmin=0, vmax=1, aspect="auto")
        axes.set_title(title, fontsize=10)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        for (row, column), weight in np.ndenumerate(values):
            axes.text(
                column,
                row,
                "·" if weight == 0 else f"{weight:.2f}",
                ha="center",
                va="center",
                color="black" if weight > 0.6 else "white",
            )

    size = (2.5 + 0.7 * len(columns), 1.2 + 0.6 * len(rows))
    write_figure(path, size, draw)


def write_figure(
    path: Path, size: tuple[float, float], draw: Callable[[Any], None]
) -> None:
    """Write one SVG whose text stays text, whole or not at all."""
    import logging

    import matplotlib
    from matplotlib.figure import Figure

    # Text stays text: the reader's machine has the CJK font, this one
    # need not, and matplotlib says at length which it cannot find.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    fonts = ["DejaVu Sans", "Noto Sans CJK TC", "PingFang TC"]
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": path.name,
        "font.family": [*fonts, "Microsoft JhengHei", "sans-serif"],
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        with written_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of `path` when all is written.

    It has a name that nothing had before. Where `path` is a link, what it
    leads to is replaced, and what may not be written to is not.
    """
    path = path.resolve()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    unfinished = path.with_name(f"{secrets.token_hex(8)}.part")
    with open(unfinished, "xb") as file:
        try:
            yield file
            file.close()
            unfinished.replace(path)
        finally:
            with suppress(OSError):
                unfinished.unlink()


def show_section_1(page: Page, version: Version) -> None:
    """Print section 1."""
    tokens = version.lesson.TOKENS
    numbers = version.section(1)
    page.matrix("section-1", numbers["weights"], tokens, tokens)
    past = version.package.to_numpy(version.inputs.past)
    page.compare(
        {"row 3": numbers["means"][2], "mean of 3": past[:3].mean(axis=0)}
    )


def show_section_2(page: Page, version: Version) -> None:
    """Print section 2."""
    lesson, numbers = version.lesson, version.section(2)
    page.matrix(
        "section-2",
        np.stack([numbers["weights"], numbers["sharp_weights"]]),
        [
            page.word("weight"),
            page.word("sharp weight", times=lesson.SHARPNESS),
        ],
        lesson.TOKENS,
        key_rows(page, version, numbers["scores"]),
    )


def key_rows(
    page: Page, version: Version, scores: NDArray[Any]
) -> list[tuple[str, Iterable[str]]]:
    """Return the keys and the scores of section 2 as rows of text."""
    keys = np.asarray(version.lesson.KEYS).T
    rows = {"key 0": keys[0], "key 1": keys[1], "score": scores}
    return [
        (page.word(key), [score(x) for x in row]) for key, row in rows.items()
    ]


def score(x: float) -> str:
    """Return a score as text that fits a column, whatever the query."""
    return format(x, ".2f" if abs(x) < 1000 else ".1e")


def show_section_3(page: Page, version: Version) -> None:
    """Print section 3."""
    tokens = version.lesson.TOKENS
    page.matrix("section-3", version.section(3)["weights"], tokens, tokens)


def show_section_4(page: Page, version: Version) -> None:
    """Print section 4."""
    numbers = version.section(4)
    page.say("columns 4")
    names = ("deviation", "unscaled", "scaled")
    first, *rest = (page.word(name) for name in names)
    header = ["d", first, "√d", *rest]
    rows = [
        [str(d), *(f"{x:.2f}" for x in (deviation, math.sqrt(d), *weights))]
        for d, deviation, *weights in zip(
            version.lesson.WIDTHS,
            *(numbers[name] for name in names),
            strict=True,
        )
    ]
    page.grid([Text(f"  {c:>10}") for c in row] for row in (header, *rows))


def show_section_5(page: Page, version: Version) -> None:
    """Print section 5."""
    tokens = version.lesson.TOKENS
    numbers = version.section(5)
    page.say(
        "shapes",
        x=tuple(version.inputs.x.shape),
        query=numbers["query"].shape,
        output=numbers["output"].shape,
    )
    weights, value = numbers["weights"], numbers["value"]
    page.matrix("section-5", weights, tokens, tokens)
    gathered = sum(w * v for w, v in zip(weights[-1], value, strict=True))
    page.compare(
        {
            "last output": numbers["output"][-1][:4],
            "weighted values": np.asarray(gathered)[:4],
        }
    )


def show_sdpa(page: Page, versions: Sequence[Version], causal: bool) -> None:
    """Print how far each version's head lies from PyTorch's function."""
    if all(version.name == VERSIONS["numpy"] for version in versions):
        torch = importlib.util.find_spec("torch")
        page.say("no sdpa" if torch else "no torch sdpa")
        return
    page.say("sdpa")
    for version in versions:
        steps = version.to_numpy(version.head(causal))
        difference = sdpa_difference(steps, causal)
        page.line(Text(f"  {version.name} {difference:.1e}"))


SECTIONS = (
    show_section_1,
    show_section_2,
    show_section_3,
    show_section_4,
    show_section_5,
)


def run_lesson(
    page: Page, versions: Sequence[Version], sections: Sequence[int]
) -> None:
    """Print the sections, and after each how far the versions differ."""
    lesson = versions[0].lesson
    page.title("title")
    page.say("poem", tokens=" ".join(lesson.TOKENS))
    show_versions(page, versions)
    for number in sections:
        page.title(f"section {number}")
        page.say(
            f"text {number}",
            token=lesson.TOKENS[-1],
            query=vector(lesson.QUERY),
        )
        SECTIONS[number - 1](page, versions[0])
        if number == 5:
            show_sdpa(page, versions, causal=True)
        if len(versions) == 2:
            one, other = (version.section(number) for version in versions)
            page.say("difference", largest=largest_difference(one, other))
        if number == 5:
            page.say("cost")
    page.console.print()
    page.say("next")


def show_versions(page: Page, versions: Sequence[Version]) -> None:
    """Print which version computes."""
    names = [version.name for version in versions]
    if VERSIONS["torch"] not in names:
        page.say("numpy")
        return
    import torch

    key = "both" if len(names) == 2 else "torch"
    page.say(key, version=torch.__version__)


def vector(numbers: Iterable[float]) -> str:
    """Return numbers as they are written in a text: [1, 0]."""
    return f"[{', '.join(format(x, 'g') for x in numbers)}]"


def run_exercise_1(
    page: Page, versions: Sequence[Version], query: Sequence[float]
) -> None:
    """Print the weights of another query beside those of section 2."""
    lesson = versions[0].lesson
    before = versions[0].section(2)["weights"]
    after, *others = (
        version.to_numpy(version.lesson.match_keys(tuple(query)))
        for version in versions
    )
    token = lesson.TOKENS[-1]
    page.title("exercise 1", token=token)
    page.say(
        "text e1",
        token=token,
        before=vector(lesson.QUERY),
        after=vector(query),
    )
    changes = after["weights"] - before
    page.matrix(
        "exercise-1",
        np.stack([after["sharp_weights"], after["weights"], before]),
        [
            page.word("sharp weight", times=lesson.SHARPNESS),
            page.word("weight"),
            page.word("weight before"),
        ],
        lesson.TOKENS,
        key_rows(page, versions[0], after["scores"]),
        [(page.word("change"), [f"{x:+.2f}" for x in changes])],
    )
    for other in others:
        page.say("difference", largest=largest_difference(after, other))


def run_exercise_2(page: Page, versions: Sequence[Version]) -> None:
    """Print the head with its mask and without it."""
    first = versions[0]
    tokens = first.lesson.TOKENS
    page.title("exercise 2")
    page.say("text e2")
    masked = first.to_numpy(first.head(causal=True))
    page.matrix("section-5", masked["weights"], tokens, tokens)
    opened, *others = (v.to_numpy(v.head(causal=False)) for v in versions)
    page.console.print()
    page.matrix("exercise-2", opened["weights"], tokens, tokens)
    show_sdpa(page, versions, causal=False)
    for other in others:
        page.say("difference", largest=largest_difference(opened, other))


RUNS = 3
WIDTH = 64


def run_exercise_3(
    page: Page, versions: Sequence[Version], lengths: Sequence[int]
) -> None:
    """Print the time of a head for each length, and how it grows."""
    page.title("exercise 3")
    page.say("text e3", width=WIDTH, runs=RUNS)
    if any(version.name == VERSIONS["torch"] for version in versions):
        page.say("text e3 torch")
    steps = len(lengths) * len(versions)
    with progress(page.word("timing"), steps) as advance:
        times: list[list[float]] = []
        for T in lengths:
            times.append([])
            for version in versions:
                times[-1].append(median_time(version, T))
                advance()
    names = (page.word("time", name=version.name) for version in versions)
    rows = [["T", page.word("table"), *names]]
    for T, row in zip(lengths, times, strict=True):
        cells = (f"{seconds * 1000:.1f}" for seconds in row)
        rows.append([str(T), f"{table_bytes(T) / MIB:.1f}", *cells])
    fitted = len(set(lengths)) > 1
    if fitted:
        slopes = (
            slope(lengths, column) for column in zip(*times, strict=True)
        )
        cells = (f"{x:.2f}" for x in slopes)
        rows.append([page.word("exponent"), "2.00", *cells])
    page.grid(
        [Text(row[0]), *(Text(f"  {c:>12}") for c in row[1:])] for row in rows
    )
    if fitted:
        page.say("text exponent")


def median_time(version: Version, T: int) -> float:
    """Return the seconds one causal head of T positions takes."""
    package: Any = version.package
    randn = package.generator.Generator(0).randn
    query, key, value = (randn(T, WIDTH) for _ in range(3))
    mask = package.masks.causal_mask(T, T)
    times = []
    for _ in range(1 + RUNS):
        start = time.perf_counter()
        package.attention.attention(query, key, value, mask)
        times.append(time.perf_counter() - start)
    # The first run warms up: it loads what the others find loaded.
    return statistics.median(times[1:])


def slope(lengths: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent p of the line time = c · Tᵖ through the points."""
    logs = [math.log(T) for T in lengths], [math.log(t) for t in times]
    return statistics.linear_regression(*logs).slope


def table_bytes(T: int) -> int:
    """Return the bytes of one table of T × T scores in float32."""
    return 4 * T * T


def check_room(lang: str, T: int) -> None:
    """Refuse a table of scores that the memory has no room for."""
    free = free_bytes()
    peak = PEAK_TABLES * table_bytes(T)
    if free is None or peak <= free:
        return
    fail(
        lang,
        "no room",
        T=T,
        table=table_bytes(T) / MIB,
        peak=peak / MIB,
        free=free / MIB,
        fits=math.isqrt(int(free / PEAK_TABLES / table_bytes(1))),
    )


def free_bytes() -> int | None:
    """Return the memory that is free, or None where nothing tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


@contextmanager
def progress(label: str, steps: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal's standard error; yield its step."""
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(label, total=steps)
        yield partial(bar.advance, task)


def run_quiz(page: Page, versions: Sequence[Version], answers: bool) -> None:
    """Print the questions, and each answer when it is asked for."""
    wait = not answers and sys.stdin.isatty() and sys.stdout.isatty()
    numbers = quiz_numbers(versions[0])
    page.title("quiz")
    for question, values in enumerate(numbers, start=1):
        page.title(f"question {question}")
        if wait:
            page.say("show")
            input()
        if wait or answers:
            page.say(f"answer {question}", **values)
    if not wait and not answers:
        page.console.print()
        page.say("answers")


def quiz_numbers(version: Version) -> list[dict[str, Any]]:
    """Return what the answers say in numbers, computed from the lesson."""
    lesson = version.lesson
    match, back, widths = (version.section(number) for number in (2, 3, 4))
    best = int(np.argmax(match["weights"]))
    unmasked = np.exp(back["scores"][0])
    return [
        {
            "token": lesson.TOKENS[-1],
            "best": lesson.TOKENS[best],
            "score": match["scores"][best],
            "weight": match["weights"][best],
        },
        {
            "late": unmasked[0] / unmasked.sum(),
            "early": back["weights"][0].sum(),
        },
        {
            "d": lesson.WIDTHS[-1],
            "root": math.sqrt(lesson.WIDTHS[-1]),
            **{name: column[-1] for name, column in widths.items()},
        },
    ]


class Training:
    """A model that learns a text, and the file that keeps what it knows."""

    def __init__(self, version: Version, arguments: Arguments) -> None:
        self.package: Any = version.package
        self.room: Any = version.package.training
        self.lang, self.seed = arguments.lang, arguments.seed
        poem = arguments.text is None
        self.text = self.room.POEM if poem else read_text(arguments)
        stem = "poem" if arguments.text is None else arguments.text.name
        more = f"-{self.seed}" if self.seed else ""
        self.path = arguments.checkpoint or Path(f"{stem}{more}.npz")
        self.characters = self.room.vocabulary(self.text)
        self.ids = self.room.encode(self.text, self.characters)
        self.T = min(len(self.text) - 1, 32)
        # Stretches that ask for every character but the first.
        last = len(self.text) - 1 - self.T
        self.starts = [*range(0, last, self.T), last]
        self.B = min(len(self.starts), 16)
        V = len(self.characters)
        self.model = self.room.poem_model(V, self.T, self.seed)
        self.optimizer = self.package.adam.AdamW(
            self.model, self.room.LEARNING_RATE
        )

    def step(self) -> float:
        """Take a step on the batch that belongs to it; return the loss."""
        number = 1_000_003 * self.seed + self.optimizer.count
        batch = self.room.text_batch(self.ids, self.T, self.B, number)
        loss: float = self.room.train_step(self.model, self.optimizer, batch)
        return loss

    def right(self, stop: Callable[[], bool] = lambda: False) -> float:
        """Return the share of the text's characters that it expects.

        0 if `stop` tells it to stop before it has looked through the text.
        """
        shares = []
        for start in self.starts:
            if stop():
                return 0.0
            shown = self.ids[start : start + self.T + 1]
            batch = self.room.Batch(shown[:-1], shown[1:])
            shares.append(self.room.accuracy(self.model, batch))
        mean: float = statistics.mean(shares)
        return mean

    def sample(self, count: int) -> str:
        """Return what it says after the text's first character."""
        ids = self.room.continue_text(self.model, self.ids[:1], count - 1)
        return visible(self.room.decode(ids, self.characters))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint holds, as NumPy arrays without objects."""
        learned = self.package.language_model.parameters(self.model)
        arrays = {
            **{f"weight.{name}": w for name, w in learned.items()},
            **self.optimizer.moments(),
        }
        found = {n: self.package.to_numpy(a) for n, a in arrays.items()}
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return found | {
            "belongs": np.asarray(f"{FORMAT} {digest} {self.seed}"),
            "count": np.asarray(self.optimizer.count),
        }

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        state = self.state()
        if not all(map(is_finite, state.values())):
            count = self.optimizer.count
            fail(self.lang, "not finite", step=count, path=self.path)
        try:
            with written_whole(self.path) as file:
                np.savez(file, allow_pickle=False, **state)
        except OSError as error:
            reason = {"path": self.path, "reason": error.strerror}
            fail(self.lang, "bad write", **reason)

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        kept = read_checkpoint(self.lang, self.path)
        if kept is None:
            return False
        own = self.state()
        belongs = [str(held.pop("belongs", "")) for held in (kept, own)]
        if re.fullmatch(f"{FORMAT} [0-9a-f]{{64}} [0-9]+", belongs[0]) is None:
            fail(self.lang, "bad checkpoint", path=self.path)
        if belongs[0] != belongs[1]:
            fail(self.lang, "other checkpoint", path=self.path)
        if not alike(kept, own):
            fail(self.lang, "bad checkpoint", path=self.path)
        count = int(kept.pop("count"))
        arrays = {n: self.package.from_numpy(a) for n, a in kept.items()}
        weights = {
            n.removeprefix("weight."): a
            for n, a in arrays.items()
            if n.startswith("weight.")
        }
        self.package.language_model.set_parameters(self.model, weights)
        self.optimizer.resume(count, arrays)
        return True


FORMAT = "attention, written twice: training 1"


def read_text(arguments: Arguments) -> str:
    """Return the text of a file, or say what is wrong with it."""
    path = arguments.text
    assert path is not None
    try:
        text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        fail(arguments.lang, "bad utf-8", path=path, place=error.start + 1)
    except OSError as error:
        fail(arguments.lang, "bad text", path=path, reason=error.strerror)
    if len(text) < 2:
        fail(arguments.lang, "short text", path=path, count=len(text))
    return text


def visible(text: str) -> str:
    """Return text with a sign in place of what moves a terminal's cursor.

    Control characters, what changes the direction of writing, line and
    paragraph separators: none may reach a terminal or an SVG.
    """
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    signs = {"\n": "⏎", "\t": "⇥"}
    return "".join(
        signs.get(c, "�") if unicodedata.category(c) in hidden else c
        for c in text
    )


def read_checkpoint(lang: str, path: Path) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a checkpoint, read without pickle; None if none."""
    try:
        if not path.exists():
            return None
        content = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        fail(lang, "bad read", path=path, reason=error.strerror)
    try:
        with warnings.catch_warnings():
            # A warning has nothing to add to what is said below.
            warnings.simplefilter("ignore")
            with np.load(io.BytesIO(content), allow_pickle=False) as held:
                return {name: np.asarray(held[name]) for name in held.files}
    except Exception:  # broken bytes raise nearly anything, and mean one thing
        fail(lang, "bad checkpoint", path=path)


def alike(kept: dict[str, NDArray[Any]], own: dict[str, NDArray[Any]]) -> bool:
    """Return whether a checkpoint has the arrays of a model, all finite."""
    kinds = [
        {name: (a.shape, a.dtype) for name, a in held.items()}
        for held in (kept, own)
    ]
    fits = kinds[0] == kinds[1] and all(map(is_finite, kept.values()))
    return fits and all(
        np.all((a >= 0) & (a < 2**53))
        for name, a in kept.items()
        if name.startswith(("count", "square."))
    )


def is_finite(array: NDArray[Any]) -> bool:
    """Return whether an array holds no NaN or infinity, or holds text."""
    return array.dtype.kind == "U" or bool(np.all(np.isfinite(array)))


@contextmanager
def stop_asked() -> Iterator[Callable[[], bool]]:
    """Yield whether Ctrl-C was pressed; a step is not broken off by it.

    Pressed again, a second later or more, it ends the program at once; and
    once it was pressed, what is left to do is too short to be broken off.
    """
    pressed: list[float] = []

    def note(*_: Any) -> None:
        now = time.monotonic()
        if pressed and now > pressed[0] + 1:
            raise KeyboardInterrupt
        pressed.append(now)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if pressed else before)


@contextmanager
def training_bar(
    page: Page, label: str, steps: int
) -> Iterator[Callable[[int, float], None]]:
    """Show a bar with the loss; yield what moves it to a step."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    console = page.console
    hidden = not console.is_terminal
    # A bar that is wider than the terminal would leave its lines behind.
    width = console.width
    console.width = min(width, shutil.get_terminal_size().columns)
    with Progress(
        *columns, console=console, transient=True, disable=hidden
    ) as bar:
        task = bar.add_task(label, total=steps, loss="")
        yield lambda step, loss: bar.update(
            task, completed=step, loss=f"{loss:.4f}"
        )
    console.width = width


def run_train(page: Page, version: Version, arguments: Arguments) -> None:
    """Train a model on a text, and show what it then looks at."""
    training = Training(version, arguments)
    resumed = training.resume()
    # Before anything is learned: what cannot be kept need not be.
    training.save()
    page.title("train")
    show_versions(page, [version])
    blocks = training.model.blocks
    learned = version.package.language_model.parameters(training.model)
    page.say(
        "text train",
        blocks=len(blocks),
        heads=blocks[0].attention.H,
        count=sum(math.prod(w.shape) for w in learned.values()),
        characters=len(training.text),
        kinds=len(training.characters),
    )
    if resumed:
        count = training.optimizer.count
        page.say("resumed", step=count, path=training.path)
    # To the end, since a terminal may send Ctrl-C twice in one moment.
    with stop_asked() as stop:
        train(page, training, arguments.steps, stop)
        training.save()
        if stop():
            page.say("stopped")
        else:
            say_result(page, training)
        page.say("kept", path=training.path)
        show_looks(page, version, training)


def train(
    page: Page,
    training: Training,
    most: int | None,
    stop: Callable[[], bool],
) -> None:
    """Train until the text is known, or `stop` says that Ctrl-C was pressed.

    With a number of steps it is trained for so many, known or not.
    """
    shown = min(len(training.text), 40)
    last = training.optimizer.count + (most or 1000)
    saved = time.monotonic()
    with training_bar(page, page.word("training"), last) as advance:
        while training.optimizer.count < last and not stop():
            step = training.optimizer.count
            # Looking through a long text costs as much as many steps.
            due = step % len(training.starts) == 0
            if most is None and due and training.right(stop) == 1:
                break
            loss = training.step()
            if not math.isfinite(loss):
                break
            step = training.optimizer.count
            advance(step, loss)
            if step.bit_count() == 1:
                sample = training.sample(shown)
                page.say("step", step=step, loss=loss, sample=sample)
            if time.monotonic() > saved + 10:
                training.save()
                saved = time.monotonic()


def say_result(page: Page, training: Training) -> None:
    """Say how much of the text it knows."""
    share, step = training.right(), training.optimizer.count
    known = training.sample(min(len(training.text), training.T + 1))
    if share == 1:
        shown = min(4, len(known) - 1)
        page.say("known", step=step, start=known[:shown], next=known[shown:])
    else:
        page.say("not known", step=step, share=share)
        page.line(Text(known))


def show_looks(page: Page, version: Version, training: Training) -> None:
    """Print what the fifth character looks at, before and after."""
    shown = min(5, training.T)
    tokens = list(visible(training.text).replace(" ", "␣"))
    found = training.model.weights(training.ids[: training.T])
    maps = [version.package.to_numpy(weights) for weights in found]
    back = version.section(3)["weights"][shown - 1, :shown]
    rows = [page.word("random")]
    weights = [back]
    for block, heads in enumerate(maps, start=1):
        for head, own in enumerate(heads, start=1):
            rows.append(page.word("block head", block=block, head=head))
            weights.append(own[shown - 1, :shown])
    page.console.print()
    page.say("text looks", token=tokens[shown - 1])
    page.matrix(
        "train-looks",
        np.stack(weights),
        rows,
        tokens[:shown],
        token=tokens[shown - 1],
    )
    if page.plot is None:
        return
    for block, heads in enumerate(maps, start=1):
        path = page.plot / f"train-block-{block}.svg"
        title = page.word("train block", block=block)
        names = tokens[: training.T]
        page.draw(path, title, heads.mean(axis=0), names, names)


def run_recall(page: Page, version: Version, arguments: Arguments) -> None:
    """Train on pairs: with attention, with averaging, with value = key."""
    room: Any = version.package.training
    characters = room.STEMS + room.BRANCHES
    test = room.recall_batch(1000, 2**31 + arguments.seed)
    ids, targets = (version.package.to_numpy(a) for a in test)
    example = room.decode(ids[0], characters)
    answer = characters[targets[0, -1]]
    page.title("recall")
    show_versions(page, [version])
    page.say(
        "text recall",
        pairs=room.PAIRS,
        example=" ".join(example),
        answer=answer,
        chance=1 / room.PAIRS,
    )
    most = arguments.steps or 1000
    rows = [["", *map(page.word, ("steps", "loss", "right", "seconds"))]]
    models, shares = [], []
    for name, scale, step in (
        ("attention", None, room.train_step),
        ("averaging", 0.0, room.train_step),
        ("value is key", None, room.tied_step),
    ):
        own = room.recall_model(arguments.seed, scale)
        if step is room.tied_step:
            room.tie(own)
        label = page.word(name)
        result = learn_pairs(page, label, version, own, step, test, most)
        rows.append([label, *result.cells])
        models.append(own)
        shares.append(result.right)
    page.grid(
        [Text(row[0]), *(Text(f"  {c}") for c in row[1:])] for row in rows
    )
    maps = models[0].weights(test.ids[:1])
    last = [version.package.to_numpy(w)[0, 0, -1] for w in maps]
    page.console.print()
    said = "text found" if shares[0] >= 0.99 else "text not found"
    page.say(said, asked=example[-1], answer=answer, share=shares[0])
    names = [page.word("block", block=n + 1) for n in range(len(last))]
    page.matrix("recall-looks", np.stack(last), names, list(example))


class Learned(NamedTuple):
    """What came of training on pairs: a row of the table, and its share."""

    cells: list[str]
    right: float


def learn_pairs(
    page: Page,
    label: str,
    version: Version,
    model: Any,
    step: Callable[..., float],
    test: Any,
    most: int,
) -> Learned:
    """Train until 99.5 % of the test is right; return what came of it."""
    room: Any = version.package.training
    start, right = time.perf_counter(), 0.0
    for count, loss in pair_losses(page, label, version, model, step, most):
        if count % 50 == 0 or count == most:
            right = room.accuracy(model, test)
        numbers = (f"{count}", f"{loss:.3f}", f"{right:.1%}")
        if right >= 0.995:
            break
    seconds = time.perf_counter() - start
    return Learned([*numbers, f"{seconds:.1f}"], right)


def pair_losses(
    page: Page,
    label: str,
    version: Version,
    model: Any,
    step: Callable[..., float],
    most: int,
) -> Iterator[tuple[int, float]]:
    """Train on pairs behind a bar; yield the step and its loss."""
    room: Any = version.package.training
    optimizer = version.package.adam.AdamW(model, room.LEARNING_RATE)
    with training_bar(page, label, most) as advance:
        for number in range(most):
            # Never a seed of the test, which are beyond 2³¹.
            loss = step(model, optimizer, room.recall_batch(64, number))
            advance(number + 1, loss)
            yield number + 1, loss


def run_scale(page: Page, version: Version, arguments: Arguments) -> None:
    """Print entropy, gradient and losses, with the division and without."""
    room: Any = version.package.experiments
    names = ("entropy", "gradient")
    page.title("scale")
    show_versions(page, [version])
    page.say("text scale", rows=room.ROWS, most=math.log(room.ROWS))
    found = {
        D: (
            room.sharpness(D, None, arguments.seed),
            room.sharpness(D, 1.0, arguments.seed),
        )
        for D in room.WIDTHS
    }
    header = ["d"]
    for name in map(page.word, names):
        header += [name, page.word("undivided")]
    rows = [header]
    for D, pair in found.items():
        cells = [getattr(one, name) for name in names for one in pair]
        rows.append([str(D), *(f"{x:.2f}" for x in cells)])
    page.grid([Text(f"  {c}") for c in row] for row in rows)
    last = arguments.steps or 400
    curves = scale_curves(page, version, arguments.seed, last)
    page.console.print()
    page.say("text scale loss")
    rows = [
        [
            page.word("steps"),
            page.word("poem loss"),
            page.word("undivided"),
            page.word("pairs right"),
            page.word("undivided"),
        ]
    ]
    for number, step in enumerate(curves.steps):
        poem = (f"{c[step - 1]:.4f}" for c in curves.poem)
        pairs = (f"{c[number]:.1%}" for c in curves.pairs)
        rows.append([str(step), *itertools.chain(poem, pairs)])
    page.grid([Text(f"  {c}") for c in row] for row in rows)
    if page.plot is not None:
        draw_scale(page, page.plot / "scale.svg", found, curves)


class Curves(NamedTuple):
    """Losses of the poem and shares of pairs, divided by √d and not."""

    steps: list[int]
    poem: list[list[float]]
    pairs: list[list[float]]


def scale_curves(page: Page, version: Version, seed: int, last: int) -> Curves:
    """Train on the poem and on pairs, with the division and without."""
    package: Any = version.package
    room = package.training
    steps = sorted({max(1, last * part // 8) for part in (1, 2, 4, 6, 8)})
    poem, pairs = [], []
    test = room.recall_batch(1000, 2**31 + seed)
    for name, scale in (("attention", None), ("no scale", 1.0)):
        poem.append(package.experiments.poem_losses(last, scale, seed))
        model = room.recall_model(seed, scale)
        label, step = page.word(name), room.train_step
        losses = pair_losses(page, label, version, model, step, last)
        pairs.append(
            [
                room.accuracy(model, test)
                for count, _ in losses
                if count in steps
            ]
        )
    return Curves(steps, poem, pairs)


def draw_scale(
    page: Page, path: Path, found: dict[int, Any], curves: Curves
) -> None:
    """Write entropy, gradient and both tasks as one figure of four."""

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, 2).ravel()
        names = (page.word("scaled"), page.word("undivided"))
        for number, name in enumerate(names):
            for axes, what in zip(
                panels, ("entropy", "gradient"), strict=False
            ):
                values = [
                    getattr(pair[number], what) for pair in found.values()
                ]
                axes.plot(list(found), values, marker="o", label=name)
                axes.set(xscale="log", xlabel="d", ylabel=page.word(what))
            losses = curves.poem[number]
            panels[2].plot(range(1, len(losses) + 1), losses, label=name)
            panels[3].plot(
                curves.steps, curves.pairs[number], marker="o", label=name
            )
        panels[2].set(yscale="log", ylabel=page.word("poem loss"))
        panels[3].set(ylim=(0, 1.05), ylabel=page.word("pairs right"))
        for axes in panels[2:]:
            axes.set_xlabel(page.word("steps"))
        panels[0].legend()

    page.write(path, lambda: write_figure(path, (8, 6), draw))


def locale_language() -> str:
    """Return the language that the environment asks for."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    asked = next((os.environ[n] for n in names if os.environ.get(n)), None)
    asked = asked or locale.getlocale()[0] or ""
    chinese = asked.lower().startswith(("zh", "chinese"))
    return "zh-Hant" if chinese else "en"


class Arguments(NamedTuple):
    """What the command line says, and where it is silent, the default."""

    command: str
    impl: str
    lang: str
    sections: list[int]
    plain: bool
    plot: Path | None
    query: list[float]
    lengths: list[int]
    answers: bool
    text: Path | None
    checkpoint: Path | None
    steps: int | None
    seed: int
    help: bool


def fail(lang: str, key: str, **values: Any) -> NoReturn:
    """Raise BadArgumentError with the words of `key`."""
    raise BadArgumentError(word(lang, key, **values))


def parse(argv: Sequence[str], lang: str) -> Arguments:
    """Return the arguments, or raise BadArgumentError."""
    words, given = split(argv, lang)
    command = " ".join(words)
    if words not in [known.split() for known in COMMANDS]:
        fail(lang, "bad command", value=command)
    for name, values in given.items():
        check_option(lang, command, name, values)
    sections = {int(n) for n in given.get("--section", "12345")}
    if sections == {4} and "--plot" in given:
        fail(lang, "bad plot")
    impl = given.get("--impl", ["numpy" if command in TRAINING else "both"])[0]
    if command in TRAINING and impl == "both":
        fail(lang, "one version", command=command)
    lengths = given.get("--lengths", ("1000", "2000", "4000"))
    return Arguments(
        command=command,
        impl=impl,
        lang=given.get("--lang", [lang])[0],
        sections=sorted(sections),
        plain="--plain" in given,
        plot=Path(given["--plot"][0]) if "--plot" in given else None,
        query=[number(lang, value) for value in given.get("--query", "01")],
        lengths=[length(lang, value) for value in lengths],
        answers="--answers" in given,
        text=Path(given["--text"][0]) if "--text" in given else None,
        checkpoint=(
            Path(given["--checkpoint"][0]) if "--checkpoint" in given else None
        ),
        steps=(
            length(lang, given["--steps"][0], "--steps")
            if "--steps" in given
            else None
        ),
        seed=seed(lang, given.get("--seed", ["0"])[0]),
        help="--help" in given,
    )


def split(
    argv: Sequence[str], lang: str
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the command, and each option with the words that follow it.

    Not by argparse: its messages are in one language, -1e5 is an option to
    it, and --section swallows a command that stands after it.
    """
    command: list[str] = []
    given: dict[str, list[str]] = {}
    words = list(argv)
    while words:
        first = words.pop(0)
        if not is_option(first):
            command.append(first)
            continue
        name, equals, value = first.partition("=")
        name = "--help" if name == "-h" else name
        if name not in OPTIONS:
            possible = either(lang, list(OPTIONS))
            fail(lang, "bad option", name=name, possible=possible)
        option = OPTIONS[name]
        if equals and option.most == 0:
            fail(lang, "no value", name=name, value=value)
        if equals:
            words.insert(0, value)
        values = leading_values(words, option.most)
        if len(values) < option.least or "" in values:
            fail(lang, f"no {name}")
        del words[: len(values)]
        given[name] = values
    return command, given


def leading_values(words: Sequence[str], most: int | None) -> list[str]:
    """Return the words that an option takes: as many as it can."""
    stop = ("exercise", "quiz") if most is None else ()
    values = itertools.takewhile(
        lambda w: not is_option(w) and w not in stop, words[:most]
    )
    return list(values)


def is_option(text: str) -> bool:
    """Return whether a word is an option; a negative number is none."""
    return text.startswith("-") and as_number(text) is None


def as_number(text: str) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def number(lang: str, text: str) -> float:
    """Return a number for a query.

    Every score, and five times that, must fit float32.
    """
    found = as_number(text)
    if found is None or not abs(found) <= 1e37:
        fail(lang, "bad number", name="--query", value=text)
    return found


def length(lang: str, text: str, name: str = "--lengths") -> int:
    """Return a length of at most nine digits."""
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        fail(lang, "bad length", name=name, value=text)
    return int(text)


def seed(lang: str, text: str) -> int:
    """Return a seed of at most nine digits."""
    if not text.isdecimal() or len(text) > 9:
        fail(lang, "bad seed", value=text)
    return int(text)


def check_option(
    lang: str, command: str, name: str, values: Sequence[str]
) -> None:
    """Refuse a value that is no choice, and a command without a use."""
    option = OPTIONS[name]
    for value in values:
        if option.choices and value not in option.choices:
            possible = either(lang, option.choices)
            said = {"value": value, "possible": possible}
            fail(lang, "bad choice", name=name, **said)
    if command not in option.commands:
        names = [place or word(lang, "lesson") for place in option.commands]
        fail(lang, "bad place", name=name, possible=either(lang, names))


def installed_versions(arguments: Arguments) -> list[str]:
    """Return the packages that compute; without torch, NumPy's alone."""
    impl = arguments.impl
    names = [impl] if impl in VERSIONS else list(VERSIONS)
    if importlib.util.find_spec("torch") is not None:
        return names
    if impl == "torch":
        fail(arguments.lang, "missing", name="--impl torch", package="torch")
    return ["numpy"]


def plot_folder(arguments: Arguments) -> Path | None:
    """Return the folder for heat maps, made if it was not there."""
    lang, folder = arguments.lang, arguments.plot
    if folder is None:
        return None
    if importlib.util.find_spec("matplotlib") is None:
        fail(lang, "missing", name="--plot", package="matplotlib")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(lang, "bad folder", path=folder, reason=error.strerror)
    return folder


def run(argv: Sequence[str]) -> None:
    """Do what the arguments ask for."""
    arguments = parse(argv, asked_language(argv))
    plain = arguments.plain or not sys.stdout.isatty()
    page = Page(arguments.lang, plain)
    if arguments.help:
        page.say("help")
        return
    names = installed_versions(arguments)
    page.plot = plot_folder(arguments)
    if arguments.impl != "numpy" and names == ["numpy"]:
        page.say("no torch")
    if arguments.command == "exercise 3":
        check_room(page.lang, max(arguments.lengths))
    versions = [Version(name) for name in names]
    match arguments.command:
        case "exercise 1":
            run_exercise_1(page, versions, arguments.query)
        case "exercise 2":
            run_exercise_2(page, versions)
        case "exercise 3":
            run_exercise_3(page, versions, arguments.lengths)
        case "quiz":
            run_quiz(page, versions, arguments.answers)
        case "train":
            run_train(page, versions[0], arguments)
        case "recall":
            run_recall(page, versions[0], arguments)
        case "scale":
            run_scale(page, versions[0], arguments)
        case _:
            run_lesson(page, versions, arguments.sections)


def asked_language(argv: Sequence[str]) -> str:
    """Return the language to speak while the arguments are read."""
    words = " ".join(argv).replace("--lang=", "--lang ").split()
    asked = dict(itertools.pairwise(words)).get("--lang", "")
    return asked if asked in LANGUAGES else locale_language()


def prepare_streams() -> None:
    """Let every stream take Chinese; one that is closed becomes empty."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main() -> int:
    """Run the program and return its exit status."""
    prepare_streams()
    try:
        run(sys.argv[1:])
    except BadArgumentError as error:
        print(f"attention.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"attention.py: {error}", file=sys.stderr)
        # Python tries once more, as it ends, to write what is left.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, EOFError):
        print(file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    status = main()
    # All is done: a Ctrl-C while Python ends would change the status alone.
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)
